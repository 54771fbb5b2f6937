"""Release, collect, grade and prove the course's notebooks, on nbgrader's formats and gradebook."""
