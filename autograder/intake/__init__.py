"""From whatever students hand in to submitted/STUDENT/SECTION/SECTION.ipynb."""
