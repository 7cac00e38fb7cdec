"""How a family of models is told about a hole, when nobody can ask the model's file: by the name of the model.

The order of a family without a measurement is prefix-suffix-middle.
"""

import re
from dataclasses import dataclass

from lsp_harness.errors import ConfigError, EngineRefused
from lsp_harness.inference.models.catalogue import FimRecipe, cards
from lsp_harness.inference.request import Around


@dataclass(frozen=True, slots=True)
class Family:
    """The three texts of a hole, and where the prefix goes."""

    name: str
    prefix: str
    suffix: str
    middle: str
    recipe: FimRecipe

    def prompt(self, around: Around) -> str:
        """The text of a prompt, laid out as our own engine does it."""
        extra = "".join(text for _, text in around.extra)
        if self.recipe.order == "suffix-first":
            return f"{extra}{self.prefix}{self.suffix}{around.suffix}{self.middle}{around.prefix}"
        return f"{extra}{self.prefix}{around.prefix}{self.suffix}{around.suffix}{self.middle}"


def _plain(*stops: str) -> FimRecipe:
    return FimRecipe("prefix-suffix-middle", stops)


def _measured(name: str) -> FimRecipe:
    return next(card.fim for card in cards() if card.name.startswith(name))


QWEN, STAR = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"), ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
FAMILIES: tuple[Family, ...] = (
    Family("qwen2.5-coder", *QWEN, _measured("qwen2.5-coder")),
    Family("qwen3-coder", *QWEN, _plain("<|endoftext|>", "<|im_end|>", "<|fim_pad|>", "<|file_sep|>")),
    Family("codegemma", *QWEN, _plain("<|file_separator|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")),
    Family("starcoder", *STAR, _plain("<|endoftext|>", "<file_sep>", "<fim_prefix>")),
    Family("granite", *STAR, _plain("<|end_of_text|>", "<|endoftext|>", "<fim_prefix>")),
    Family(
        "deepseek-coder",
        "<\uff5cfim\u2581begin\uff5c>",
        "<\uff5cfim\u2581hole\uff5c>",
        "<\uff5cfim\u2581end\uff5c>",
        _plain("<\uff5cend\u2581of\u2581sentence\uff5c>"),
    ),
)


SUFFIX = re.compile(r"gpt-3\.5-turbo-instruct|davinci-002|babbage-002")
"""OpenAI's models that complete; all others take conversations only."""


def family_of(setting: str, model: str) -> Family | None:
    """The family that `engine.fim` names, or with `auto` the model's. None is the `suffix` parameter.

    Raises EngineRefused for a model of no known family, and for the setting `none`.
    """
    if setting == "none":
        raise EngineRefused(f"{model} gets no fill-in-the-middle prompts, because engine.fim is none")
    if setting == "suffix" or (setting == "auto" and SUFFIX.search(model)):
        return None
    wanted = re.sub(r"[^a-z0-9]", "", (model if setting == "auto" else setting).lower())
    for family in FAMILIES:
        if re.sub(r"[^a-z0-9]", "", family.name) in wanted:
            return family
    if setting == "auto":
        raise EngineRefused(f"the fill-in-the-middle format of {model} is not known; set engine.fim to {choices()}")
    raise ConfigError(f"engine.fim must be auto or {choices()}, not {setting!r}")


def choices() -> str:
    return ", ".join(family.name for family in FAMILIES) + ", suffix or none"


def why_not(setting: str, model: str) -> str:
    """Why a model is given no holes; empty where it is."""
    try:
        family_of(setting, model)
    except EngineRefused as refused:
        return refused.message
    return ""
