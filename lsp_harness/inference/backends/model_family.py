"""How a family of models is told about a hole, when nobody can ask the model's file: by the name of the model.

The order of a family without a measurement is prefix-suffix-middle.
"""

import re
from dataclasses import dataclass

from lsp_harness.errors import ConfigError, EngineRefused
from lsp_harness.inference.models.catalogue import FimRecipe, cards
from lsp_harness.inference.request import InfillContext


@dataclass(frozen=True, slots=True)
class Family:
    """The three texts of a hole, and where the prefix goes."""

    name: str
    prefix: str
    suffix: str
    middle: str
    recipe: FimRecipe

    def prompt(self, around: InfillContext) -> str:
        """The text of a prompt, laid out as our own engine does it."""
        extra = "".join(text for _, text in around.extra)
        if self.recipe.order == "suffix-first":
            return f"{extra}{self.prefix}{self.suffix}{around.suffix}{self.middle}{around.prefix}"
        return f"{extra}{self.prefix}{around.prefix}{self.suffix}{around.suffix}{self.middle}"


def _default_recipe(*stops: str) -> FimRecipe:
    return FimRecipe("prefix-suffix-middle", stops)


def _catalogue_recipe(name: str) -> FimRecipe:
    return next(card.fim for card in cards() if card.name.startswith(name))


QWEN, STAR = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"), ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
FAMILIES: tuple[Family, ...] = (
    Family("qwen2.5-coder", *QWEN, _catalogue_recipe("qwen2.5-coder")),
    Family("qwen3-coder", *QWEN, _default_recipe("<|endoftext|>", "<|im_end|>", "<|fim_pad|>", "<|file_sep|>")),
    Family(
        "codegemma", *QWEN, _default_recipe("<|file_separator|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
    ),
    Family("starcoder", *STAR, _default_recipe("<|endoftext|>", "<file_sep>", "<fim_prefix>")),
    Family("granite", *STAR, _default_recipe("<|end_of_text|>", "<|endoftext|>", "<fim_prefix>")),
    Family(
        "deepseek-coder",
        "<\uff5cfim\u2581begin\uff5c>",
        "<\uff5cfim\u2581hole\uff5c>",
        "<\uff5cfim\u2581end\uff5c>",
        _default_recipe("<\uff5cend\u2581of\u2581sentence\uff5c>"),
    ),
)


SUFFIX_MODELS = re.compile(r"gpt-3\.5-turbo-instruct|davinci-002|babbage-002")
"""OpenAI's models that complete; all others take conversations only."""


def find_family(setting: str, model: str) -> Family | None:
    """The family that `engine.fim` names, or with `auto` the model's. None is the `suffix` parameter.

    Raises EngineRefused for a model of no known family, and for the setting `none`.
    """
    if setting == "none":
        raise EngineRefused(f"{model} gets no fill-in-the-middle prompts, because engine.fim is none")
    if setting == "suffix" or (setting == "auto" and SUFFIX_MODELS.search(model)):
        return None
    wanted = re.sub(r"[^a-z0-9]", "", (model if setting == "auto" else setting).lower())
    for family in FAMILIES:
        if re.sub(r"[^a-z0-9]", "", family.name) in wanted:
            return family
    if setting == "auto":
        raise EngineRefused(
            f"the fill-in-the-middle format of {model} is not known; set engine.fim to {family_choices()}"
        )
    raise ConfigError(f"engine.fim must be auto or {family_choices()}, not {setting!r}")


def family_choices() -> str:
    return ", ".join(family.name for family in FAMILIES) + ", suffix or none"


def infill_problem(setting: str, model: str) -> str:
    """Why a model is given no holes; empty where it is."""
    try:
        find_family(setting, model)
    except EngineRefused as refused:
        return refused.message
    return ""
