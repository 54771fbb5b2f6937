"""From nbgrader's gradebook to a file that other systems read."""
