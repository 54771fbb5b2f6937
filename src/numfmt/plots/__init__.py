"""Figures of the course, a module a section. Each function returns a matplotlib figure; `show` displays it."""

from ._page import show
from .integers import number_wheel, running_sums, wrap_sawtooth

__all__ = ["number_wheel", "running_sums", "show", "wrap_sawtooth"]
