"""The marked regions of a master's cells: what students see, and what they never see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RegionKind(StrEnum):
    """The regions that nbgrader removes; the value is the text in their BEGIN and END markers."""

    SOLUTION = "SOLUTION"
    HIDDEN_TESTS = "HIDDEN TESTS"
    MARK_SCHEME = "MARK SCHEME"


MARKERS = tuple(f"{edge} {kind}" for kind in RegionKind for edge in ("BEGIN", "END"))
"""The text by which nbgrader knows the first and last line of a region, wherever it stands in the line."""


@dataclass(frozen=True)
class Region:
    """A region without its marker lines."""

    kind: RegionKind
    lines: tuple[str, ...]


@dataclass(frozen=True)
class CellParts:
    """A cell's source, taken apart: the public lines and the regions."""

    public: tuple[str, ...]
    regions: tuple[Region, ...]

    def has(self, kind: RegionKind) -> bool:
        """Say whether the cell has a region of this kind."""
        return any(region.kind is kind for region in self.regions)


def split_cell(source: str) -> CellParts:
    """Take a cell's source apart; ValueError if its markers don't pair up (nbgrader lets some of these pass)."""
    public: list[str] = []
    regions: list[Region] = []
    inside: RegionKind | None = None
    lines: list[str] = []
    for number, line in enumerate(source.splitlines(), 1):
        marker = next((marker for marker in MARKERS if marker in line), None)
        if marker is None:
            (public if inside is None else lines).append(line)
            continue
        edge, name = marker.split(" ", 1)
        if edge == "BEGIN" and inside is None:
            inside, lines = RegionKind(name), []
        elif edge == "END" and inside == name:
            regions.append(Region(inside, tuple(lines)))
            inside = None
        else:
            expected = f"END {inside}" if inside else "a BEGIN marker before it"
            raise ValueError(f"line {number} holds {marker}, expected {expected}")
    if inside is not None:
        raise ValueError(f"END {inside} is missing")
    return CellParts(tuple(public), tuple(regions))
