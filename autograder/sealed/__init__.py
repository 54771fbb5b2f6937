"""Sealed grading: student code and test cells in processes of their own, and plain data between them."""
