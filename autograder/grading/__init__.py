"""From a submission to its marks: rebuild, run behind one seam, write the gradebook."""
