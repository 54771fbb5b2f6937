"""The class report: how a class did in each section, which exercises were hard, and what was misunderstood."""
