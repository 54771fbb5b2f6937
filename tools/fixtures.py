"""Write the random inputs of the notebooks: stored, because generators may change between NumPy versions.

python tools/fixtures.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from numfmt import BF16, round_to

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def int8_vectors() -> np.ndarray:
    """Return two vectors of 4096 int8 values in [-127, 127], one a row."""
    generator = np.random.default_rng(0)
    return np.stack([generator.integers(-127, 128, 4096, dtype=np.int8) for _ in range(2)])


def float_values() -> np.ndarray:
    """Return 6000 float32 values of both signs between 1e-10 and 7e4 in size, evenly over the binades.

    Made of integers and powers of two alone, which are the same on every machine.
    """
    generator = np.random.default_rng(0)
    mantissas = generator.integers(2**23, 2**24, 8000)
    sizes = np.ldexp(mantissas.astype(np.float64), generator.integers(-34, 17, 8000) - 23)
    values = np.where(generator.integers(0, 2, 8000) == 1, sizes, -sizes)
    inside = (sizes >= 1e-10) & (sizes <= 7e4)
    return values[inside][:6000].astype(np.float32)


def normals() -> np.ndarray:
    """Return 2**20 float32 numbers from the standard normal distribution."""
    return np.random.default_rng(0).standard_normal(2**20).astype(np.float32)


def bf16_vectors() -> np.ndarray:
    """Return two vectors of 4096 standard normal numbers, one a row, rounded to bfloat16 and stored as float32."""
    generator = np.random.default_rng(1)
    return np.stack([round_to(generator.standard_normal(4096), BF16) for _ in range(2)]).astype(np.float32)


FIXTURES = {
    "01_integers/int8_vectors.npy": int8_vectors,
    "02_floats/float_values.npy": float_values,
    "03_arithmetic/normals.npy": normals,
    "03_arithmetic/bf16_vectors.npy": bf16_vectors,
}
"""From file to the function that makes its content."""

if __name__ == "__main__":
    for name, make in FIXTURES.items():
        np.save(NOTEBOOKS / name, make(), allow_pickle=False)
        print(f"wrote notebooks/{name}")
