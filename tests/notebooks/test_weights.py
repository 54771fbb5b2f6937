"""The real weights of section 5: the stored files are those that were cut, and the cutting is what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tools import weights


@pytest.mark.parametrize("name", weights.CHECKSUMS)
def test_a_stored_file_is_the_one_that_was_cut(name: str) -> None:
    assert weights.sha256(weights.FOLDER / name) == weights.CHECKSUMS[name]


def test_the_files_fit_each_other_and_are_small() -> None:
    weight, inputs, tokens = (np.load(weights.FOLDER / name, allow_pickle=False) for name in weights.CHECKSUMS)
    assert weight.shape == (384, 1536) and inputs.shape == (len(tokens), 1536)
    assert weight.dtype == inputs.dtype == np.float16
    assert sum((weights.FOLDER / name).stat().st_size for name in weights.CHECKSUMS) < 2_000_000
    assert tokens.tolist().count("[CLS]") == tokens.tolist().count("[SEP]") == len(weights.SENTENCES)


def test_the_notice_names_source_and_licence() -> None:
    notice = (weights.FOLDER / "ffn_notice.txt").read_text(encoding="utf-8")
    assert "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2" in notice
    assert weights.MODEL_SHA256 in notice and "Apache License" in notice and "TERMS AND CONDITIONS" in notice
    assert all(name in notice for name in weights.CHECKSUMS)


def test_the_tokenizer_takes_the_longest_known_piece() -> None:
    known = {piece: number for number, piece in enumerate(["skate", "skat", "##ed", "##d", "##e", "the", ".", "ice"])}
    assert weights.tokenize("The ice skated.", known) == ["[CLS]", "the", "ice", "skate", "##d", ".", "[SEP]"]


def test_the_layer_is_that_of_torch() -> None:
    import torch

    generator = np.random.default_rng(5)
    hidden, wide, count = 24, 40, 7
    layer = torch.nn.TransformerEncoderLayer(hidden, 12, wide, 0.0, "gelu", weights._EPS, batch_first=True)
    layer = layer.double().eval()
    name = "encoder.layer.0"
    sizes = {
        "embeddings.word_embeddings": (30, hidden),
        "embeddings.position_embeddings": (16, hidden),
        "embeddings.token_type_embeddings": (2, hidden),
    }
    made = {f"{each}.weight": generator.standard_normal(size) for each, size in sizes.items()}
    made |= {
        "embeddings.LayerNorm.weight": generator.standard_normal(hidden),
        "embeddings.LayerNorm.bias": generator.standard_normal(hidden),
    }
    blocks = np.split(layer.self_attn.in_proj_weight.detach().numpy(), 3)
    biases = np.split(layer.self_attn.in_proj_bias.detach().numpy(), 3)
    for part, block, bias in zip(("query", "key", "value"), blocks, biases, strict=True):
        made |= {f"{name}.attention.self.{part}.weight": block, f"{name}.attention.self.{part}.bias": bias}
    for ours, theirs in (
        ("attention.output.dense", layer.self_attn.out_proj),
        ("attention.output.LayerNorm", layer.norm1),
        ("intermediate.dense", layer.linear1),
    ):
        made |= {f"{name}.{ours}.weight": theirs.weight.detach().numpy()}
        made |= {f"{name}.{ours}.bias": theirs.bias.detach().numpy()}
    ids = generator.integers(0, 30, count).tolist()
    seen = []
    layer.linear2.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    summed = made["embeddings.word_embeddings.weight"][ids] + made["embeddings.position_embeddings.weight"][:count]
    summed = summed + made["embeddings.token_type_embeddings.weight"][0]
    spread = np.sqrt(summed.var(axis=-1, keepdims=True) + weights._EPS)
    state = (summed - summed.mean(axis=-1, keepdims=True)) / spread * made["embeddings.LayerNorm.weight"]
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        layer(torch.from_numpy(state + made["embeddings.LayerNorm.bias"])[None])
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    assert np.allclose(weights.ffn_input(ids, made), seen[0][0].detach().numpy(), rtol=1e-9, atol=1e-12)


def test_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(ValueError, match="another model"):
        weights.cut(tmp_path)
