"""How alike submissions are: a report for people to judge, never a verdict."""
