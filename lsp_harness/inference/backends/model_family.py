"""The fill-in-the-middle tokens of model families, chosen by the name of a model whose file cannot be read.

The order of a family that was not measured is prefix-suffix-middle.
"""

import re
from dataclasses import dataclass

from lsp_harness.errors import ConfigError, EngineRefused
from lsp_harness.inference.models.catalogue import FimRecipe, cards
from lsp_harness.inference.request import InfillContext


@dataclass(frozen=True, slots=True)
class Family:
    """The texts of the three special tokens, and the order of the prompt."""

    name: str
    prefix: str
    suffix: str
    middle: str
    recipe: FimRecipe

    def prompt(self, context: InfillContext) -> str:
        """Return the text of a prompt in the order that our own engine uses."""
        extra = "".join(text for _, text in context.extra)
        if self.recipe.order == "suffix-first":
            return f"{extra}{self.prefix}{self.suffix}{context.suffix}{self.middle}{context.prefix}"
        return f"{extra}{self.prefix}{context.prefix}{self.suffix}{context.suffix}{self.middle}"


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
"""Models of OpenAI that complete text. All others only answer conversations."""


def find_family(setting: str, model: str) -> Family | None:
    """Return the family for the setting `engine.fim` and a model name. None means the `suffix` parameter of the server.

    Raises:
        EngineRefused: The family of the model is not known, or the setting is `none`.
        ConfigError: The setting names no family.
    """
    if setting == "none":
        raise EngineRefused(f"{model} gets no fill-in-the-middle prompts, because engine.fim is none")
    if setting == "suffix" or (setting == "auto" and SUFFIX_MODELS.search(model)):
        return None
    letters = re.sub(r"[^a-z0-9]", "", (model if setting == "auto" else setting).lower())
    for family in FAMILIES:
        if re.sub(r"[^a-z0-9]", "", family.name) in letters:
            return family
    if setting == "auto":
        raise EngineRefused(
            f"the fill-in-the-middle format of {model} is not known; set engine.fim to {family_choices()}"
        )
    raise ConfigError(f"engine.fim must be auto or {family_choices()}, not {setting!r}")


def family_choices() -> str:
    """Return the values of `engine.fim` except for `auto`, as messages list them."""
    return ", ".join(family.name for family in FAMILIES) + ", suffix or none"


def infill_problem(setting: str, model: str) -> str:
    """Return why a model gets no fill-in-the-middle prompts, or an empty text if it gets them."""
    try:
        find_family(setting, model)
    except EngineRefused as error:
        return error.message
    return ""
