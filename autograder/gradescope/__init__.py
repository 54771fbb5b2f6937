"""Grading on Gradescope: the zip file to upload there, and what runs inside it."""
