"""From master notebooks to the student bundle, and the gate that no answer passes."""
