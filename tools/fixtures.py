"""Write the random inputs of the notebooks: stored, because generators may change between NumPy versions.

python tools/fixtures.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def int8_vectors() -> np.ndarray:
    """Return two vectors of 4096 int8 values in [-127, 127], one a row."""
    generator = np.random.default_rng(0)
    return np.stack([generator.integers(-127, 128, 4096, dtype=np.int8) for _ in range(2)])


FIXTURES = {"01_integers/int8_vectors.npy": int8_vectors}
"""From file to the function that makes its content."""

if __name__ == "__main__":
    for name, make in FIXTURES.items():
        np.save(NOTEBOOKS / name, make(), allow_pickle=False)
        print(f"wrote notebooks/{name}")
