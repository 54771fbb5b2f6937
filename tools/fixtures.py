"""Write the random inputs of the notebooks: stored, because generators may change between NumPy versions.

python tools/fixtures.py
"""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

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


def small_weights() -> np.ndarray:
    """Return a weight matrix (64, 256), normal with standard deviation 0.02."""
    return np.random.default_rng(0).normal(0, 0.02, (64, 256))


def relu_activations() -> np.ndarray:
    """Return 4096 normals, drawn after `small_weights`, the negative ones replaced by 0."""
    generator = np.random.default_rng(0)
    generator.normal(0, 0.02, (64, 256))
    return np.maximum(generator.standard_normal(4096), 0)


def layout_weights() -> np.ndarray:
    """Return a weight matrix (64, 512), normal with standard deviation 0.02, for outlier columns to be put into."""
    return np.random.default_rng(0).standard_normal((64, 512)) * 0.02


def normal_quantiles(count: int) -> np.ndarray:
    """Return the quantiles (i + 1/2) / count of the standard normal distribution: its shape, without a generator."""
    inverse = NormalDist().inv_cdf
    return np.array([inverse((i + 0.5) / count) for i in range(count)])


def scattered_normals() -> np.ndarray:
    """Return 64 x 256 normal quantiles in an order that looks random: each 6007th, around and around."""
    return normal_quantiles(64 * 256)[np.arange(64 * 256) * 6007 % (64 * 256)].reshape(64, 256)


def clinic_gradients() -> np.ndarray:
    """Return 10000 float32 gradients: log-normal magnitudes around 2**-16, held between 2**-30 and 2**-1."""
    sizes = np.exp2(np.clip(-16 + 4.7 * normal_quantiles(10_000), -30, -1))
    return np.where(np.arange(10_000) % 2 == 0, sizes, -sizes).astype(np.float32)


def clinic_weights() -> np.ndarray:
    """Return a 64 x 256 float32 matrix of weights with a standard deviation of 0.02."""
    return (0.02 * scattered_normals()).astype(np.float32)


def clinic_activations() -> np.ndarray:
    """Return float32 activations, 64 tokens x 256 channels: three loud channels, one huge number in one of them."""
    activations = scattered_normals()
    activations[:, [37, 101, 200]] *= 40
    activations[0, 101] = 70_000
    return activations.astype(np.float32)


def clinic_kv_cache() -> np.ndarray:
    """Return float32 keys, 64 tokens x 256 numbers, four of them eight times as large as the others."""
    keys = 2 * scattered_normals()
    keys[:, [5, 77, 133, 201]] *= 8
    return keys.astype(np.float32)


def regression() -> np.ndarray:
    """Return 2048 rows of 32 standard normal inputs and, last, a linear target with noise of 0.01, as float32."""
    generator = np.random.default_rng(2)
    x, weights = generator.standard_normal((2048, 32)), generator.standard_normal(32)
    exact = [math.fsum(products) for products in x * weights]
    target = np.array(exact) + 0.01 * generator.standard_normal(2048)
    return np.column_stack([x, target]).astype(np.float32)


def gradients() -> np.ndarray:
    """Return 10,000 float32 gradients: powers of two whose exponents are normal quantiles, from -30 to -1."""
    quantile = NormalDist(-16, 4.7).inv_cdf
    exponents = (min(max(quantile((i + 0.5) / 10_000), -30), -1) for i in range(10_000))
    return np.array([2.0**exponent for exponent in exponents], np.float32)


def digits_start() -> np.ndarray:
    """Return the first weights of a 64-64-10 network as one float32 vector: a matrix, biases, a matrix, biases."""
    generator = np.random.default_rng(0)
    first, second = generator.standard_normal((64, 64)) / 32**0.5, generator.standard_normal((64, 10)) / 8
    return np.concatenate([first.ravel(), np.zeros(64), second.ravel(), np.zeros(10)]).astype(np.float32)


FIXTURES = {
    "01_integers/int8_vectors.npy": int8_vectors,
    "02_floats/float_values.npy": float_values,
    "03_arithmetic/normals.npy": normals,
    "03_arithmetic/bf16_vectors.npy": bf16_vectors,
    "05_quantization/small_weights.npy": small_weights,
    "05_quantization/relu_activations.npy": relu_activations,
    "05_quantization/layout_weights.npy": layout_weights,
    "06_choosing_a_format/gradients.npy": clinic_gradients,
    "06_choosing_a_format/weights.npy": clinic_weights,
    "06_choosing_a_format/activations.npy": clinic_activations,
    "06_choosing_a_format/kv_cache.npy": clinic_kv_cache,
    "04_mixed_precision/regression.npy": regression,
    "04_mixed_precision/gradients.npy": gradients,
    "04_mixed_precision/digits_start.npy": digits_start,
}
"""From file to the function that makes its content."""

if __name__ == "__main__":
    for name, make in FIXTURES.items():
        np.save(NOTEBOOKS / name, make(), allow_pickle=False)
        print(f"wrote notebooks/{name}")
