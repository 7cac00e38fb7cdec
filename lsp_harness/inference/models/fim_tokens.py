"""The fill-in-the-middle tokens of a vocabulary: the metadata keys that name them, and the texts to recognise them by.

Both lists are those of llama.cpp. The first text of a role in this order that exists wins, because a vocabulary may
contain tokens of another family.
"""

from collections.abc import Mapping
from dataclasses import dataclass

FIM_KEYS: Mapping[str, tuple[str, ...]] = {
    "prefix": ("fim_pre_token_id", "prefix_token_id"),
    "suffix": ("fim_suf_token_id", "suffix_token_id"),
    "middle": ("fim_mid_token_id", "middle_token_id"),
    "pad": ("fim_pad_token_id",),
    "repository": ("fim_rep_token_id",),
    "file": ("fim_sep_token_id",),
}
"""Role → keys below `tokenizer.ggml`, the newer name first."""

FIM_TEXTS: Mapping[str, tuple[str, ...]] = {
    "prefix": (
        "<|fim_prefix|>",
        "<fim_prefix>",
        "<fim-prefix>",
        "<|code_prefix|>",
        "<\uff5cfim\u2581begin\uff5c>",
        "\u2581<PRE>",
        "<PRE>",
    ),
    "suffix": (
        "<|fim_suffix|>",
        "<fim_suffix>",
        "<fim-suffix>",
        "<|code_suffix|>",
        "<\uff5cfim\u2581hole\uff5c>",
        "\u2581<SUF>",
        "<SUF>",
    ),
    "middle": (
        "<|fim_middle|>",
        "<fim_middle>",
        "<fim-middle>",
        "<|code_middle|>",
        "<\uff5cfim\u2581end\uff5c>",
        "\u2581<MID>",
        "<MID>",
    ),
    "pad": ("<|fim_pad|>", "<fim_pad>", "<fim-pad>", "<PAD>"),
    "repository": ("<|repo_name|>", "<|fim_repo|>", "<reponame>", "<fim-repo>", "<REPO>"),
    "file": ("<|file_sep|>",),
}

ROLE_BY_TEXT: Mapping[bytes, str] = {text.encode(): role for role, texts in FIM_TEXTS.items() for text in texts}


@dataclass(frozen=True, slots=True)
class FimToken:
    """A token with a role. `is_named` says that the metadata names it; otherwise its text was recognised."""

    text: str
    id: int
    is_named: bool
