"""Cut the real weights of section 5 out of a published model, and record what comes into them.

python tools/weights.py MODEL_FOLDER

The model is sentence-transformers/all-MiniLM-L6-v2 (Apache License 2.0), a BERT of six layers; MODEL_FOLDER holds its
`model.safetensors` and `vocab.txt`. The notebook needs three files, which are stored beside it with a notice, so that
nobody has to fetch the model again; a test compares them with `CHECKSUMS`.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "notebooks" / "05_quantization"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors: another file is another model."""

CHECKSUMS = {
    "ffn_weight.npy": "c5155f01112cc38e74ba050c7f8cf1b84f7798ea6dffaff7cfacbb168cd885eb",
    "ffn_input.npy": "116bbce8e357418468d6e01cc06c6cb073caea6537b44e04948d0fefb057b76a",
    "ffn_tokens.npy": "5ed61cc4f29d7fbc90e9a9b07af17fcf79a367f24af8ebef0dd7a78a8885666f",
}
"""SHA-256 of the stored files."""

SENTENCES = (
    "How many bits does a number need?",
    "A computer stores every number in a fixed count of bits.",
    "The river was frozen, and the children skated until it was dark.",
    "My grandmother bakes bread on Sunday mornings.",
    "The train to the coast leaves at seven and is often late.",
    "Doctors measured the temperature of the patient twice.",
    "Prices rose by three percent in the second quarter.",
    "The cat slept on the warm roof of the car.",
    "Children were skating on the ice of the river.",
    "Every Sunday my grandmother makes fresh bread.",
    "Inflation reached three percent this spring.",
    "Numbers in a computer are kept in a fixed number of bits.",
)
"""What the model reads; written for this course."""

_LAYER = "encoder.layer.0"
_HEADS = 12
_EPS = 1e-12
"""The model's layer_norm_eps."""

Array = np.ndarray
Weights = dict[str, Array]


def tokenize(sentence: str, vocabulary: dict[str, int]) -> list[str]:
    """Split a plain English sentence into word pieces, the longest known one first, as the model's tokenizer does."""
    pieces = ["[CLS]"]
    for word in re.findall(r"[a-z0-9]+|[^\sa-z0-9]", sentence.lower()):
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in vocabulary)
            end = next(ends)
            pieces.append(prefix + word[start:end])
            start = end
    return [*pieces, "[SEP]"]


def ffn_input(ids: list[int], weights: Weights) -> Array:
    """Return what the second matrix of the first layer's feed-forward block multiplies: (tokens, 1536), float64."""
    state = (
        weights["embeddings.word_embeddings.weight"][ids]
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    state = _normed(state, "embeddings.LayerNorm", weights)
    mixed = _linear(_attention(state, weights), f"{_LAYER}.attention.output.dense", weights)
    state = _normed(mixed + state, f"{_LAYER}.attention.output.LayerNorm", weights)
    hidden = _linear(state, f"{_LAYER}.intermediate.dense", weights)
    return np.asarray(0.5 * hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))))


def _attention(state: Array, weights: Weights) -> Array:
    names = (f"{_LAYER}.attention.self.{part}" for part in ("query", "key", "value"))
    query, key, value = (_linear(state, name, weights).reshape(len(state), _HEADS, -1) for name in names)
    scores = np.einsum("ihd,jhd->hij", query, key) / math.sqrt(query.shape[-1])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return np.asarray(np.einsum("hij,jhd->ihd", shares, value).reshape(state.shape))


def _linear(x: Array, name: str, weights: Weights) -> Array:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normed(x: Array, name: str, weights: Weights) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPS)
    return np.asarray(centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def cut(model: Path) -> dict[str, Array]:
    """Return the arrays to store, by file name, from the model in a folder; ValueError if it is another model."""
    from safetensors.numpy import load_file

    found = sha256(model / "model.safetensors")
    if found != MODEL_SHA256:
        raise ValueError(f"{model}/model.safetensors is another model: its SHA-256 is {found}, not {MODEL_SHA256}")
    weights = {name: each.astype(np.float64) for name, each in load_file(model / "model.safetensors").items()}
    lines = (model / "vocab.txt").read_text(encoding="utf-8").split("\n")
    vocabulary = {piece: number for number, piece in enumerate(lines)}
    pieces = [tokenize(sentence, vocabulary) for sentence in SENTENCES]
    inputs = [ffn_input([vocabulary[piece] for piece in each], weights) for each in pieces]
    return {
        "ffn_weight.npy": weights[f"{_LAYER}.output.dense.weight"].astype(np.float16),
        "ffn_input.npy": np.concatenate(inputs).astype(np.float16),
        "ffn_tokens.npy": np.array([piece for each in pieces for piece in each]),
    }


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(argv: list[str]) -> int:
    """Write the files beside the notebook and print their checksums."""
    if len(argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for name, array in cut(Path(argv[0])).items():
        np.save(FOLDER / name, array, allow_pickle=False)
        print(f"{name}: {array.shape} {array.dtype}, {sha256(FOLDER / name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
