"""The settings of actions: edits that a project defines, and comments that ask for one."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ActionSetting:
    """An edit of the project's own, which appears as a code action. See [Actions](actions.md)."""

    name: str = ""
    """The name on the command line, of small letters, digits and `-`."""
    title: str = ""
    """The title in the editor. The default is the name."""
    prompt: str = ""
    """The instruction. `{selection}`, `{symbol}`, `{diagnostics}`, `{file}` and `{language}` are replaced. Write `{{`
    for a brace.
    """
    context: tuple[str, ...] = ()
    """The parts around the code in the prompt: `related`, `docs`, `examples`, `session`. Empty is all of them."""
    checks: tuple[str, ...] = ()
    """Checks that must run and pass, even if the settings turn them off, such as `lint`. The others run as always."""
    languages: tuple[str, ...] = ()
    """The languages of the files for which it is offered, such as `python`. Empty is all of them."""
    file: Path | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Actions:
    """Edits of your own, and comments that ask for an edit. See [Actions](actions.md)."""

    custom: tuple[ActionSetting, ...] = ()
    """The edits. In a file, `[[actions]]` is a short form of `[[actions.custom]]`."""
    comment_trigger: bool = False
    """When a file is saved in the editor, do what its first comment with `ai!` says."""
