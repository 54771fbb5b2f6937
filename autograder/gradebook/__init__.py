"""The gradebook, which is nbgrader's: made, written, and kept watch over."""
