"""Loads settings from layers, in this order: defaults, user, project, environment, editor.

    <user config dir>/lsp-harness/config.toml
    <project>/lsp-harness.toml        (or localcode.toml, the older name)
    <project>/lsp-harness.local.toml
    LSP_HARNESS_<TABLE>__<KEY>=…
    initializationOptions, workspace/configuration

A later layer overrides an earlier one, key by key. An error in a layer is a `Problem` and not an exception, because a
language server must start with a broken settings file.

Opening a folder must not decide which server gets the code or which file is loaded. So a project cannot set `[engine]`
and `[runtime]`, and an editor, which mixes the settings of the workspace with those of the user, cannot name a server,
a key or a program. Neither can name a model file in the project.
"""

import os
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from lsp_harness.config.paths import find_platform_folder
from lsp_harness.config.permission_layers import EDITOR_FORBIDDEN_PERMISSIONS, restrict_value
from lsp_harness.config.schema import Config, Kind, is_model_file, tables
from lsp_harness.config.setting_values import WORDS, Wanted, convert_value, convert_word, read_list, type_name
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError, FileMissing

ENV_PREFIX = "LSP_HARNESS_"
USER_ONLY_TABLES = frozenset({"engine", "runtime"})
EDITOR_FORBIDDEN_KEYS = {
    "engine": frozenset({"url", "model", "api_key_env", "script"}),
    # a list of tables, which no editor has a form for
    "actions": frozenset({"custom"}),
    # programs that are started, and the folders in which they may work
    "runtime": frozenset(
        {
            *("agents", "allowed_roots", "client_variables", "max_agents", "runner", "network"),
            *("container_program", "container_image", "container_options", "ssh_host", "ssh_options"),
        }
    ),
    **EDITOR_FORBIDDEN_PERMISSIONS,
}
MODEL_FILE_KEYS = (("model", "path"), ("index", "embedding_model"))
RULE_TABLES = frozenset({"permissions", "hooks"})
"""Tables in which a value that cannot be read may be one that forbids something."""
SERVER_TABLE = "mcp"
"""Table that conversations read: its only key is `servers`."""
SETTING_SOURCES = ("user", "project", "local")
"""The layers of files, the weakest first."""
SYSTEM_CONFIG_FOLDER = Path("/etc/lsp-harness")
"""Folder of `config.toml` for a user without a home folder."""
PROJECT_FILES = ("lsp-harness.toml", "localcode.toml", "lsp-harness.local.toml")


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a layer. `line` is zero-based; `file` is None for a layer without a file."""

    message: str
    file: Path | None = None
    line: int = 0

    @property
    def sentence(self) -> str:
        """The message after the name of its file, for a warning."""
        return f"{self.file.name if self.file else 'settings'}: {self.message}"


@dataclass(frozen=True, slots=True)
class Layer:
    """A source of settings, which decides what they may set."""

    file: Path | None = None
    text: str = ""
    has_text_values: bool = False
    """Whether all values are texts, as in the environment."""
    is_editor: bool = False
    roots: Sequence[Path] = ()
    """Folders whose authors may have written these settings."""
    is_trusted: bool = True
    """Whether the settings may permit something and not only forbid it."""


ConfigLoader = Callable[[Path | None], tuple[Config, list[Problem]]]
"""Function that loads the settings of a project folder."""


def find_user_config_file() -> Path:
    """Return the path of the settings file of the user."""
    home = os.environ.get("LSP_HARNESS_HOME")
    return (Path(home) if home else find_platform_folder("user_config_dir") or SYSTEM_CONFIG_FOLDER) / "config.toml"


def load(
    project: Path | None = None,
    env: Mapping[str, str] | None = None,
    *,
    is_trusted: bool = False,
    sources: Collection[str] = SETTING_SOURCES,
) -> tuple[Config, list[Problem]]:
    """Return the settings for a project folder, and the errors in the layers.

    Args:
        project: The folder of the project.
        env: The environment, by default that of this process.
        is_trusted: Whether the user trusts the project, so that its files may permit actions. A project in one of the
            `trusted_folders` of the user is trusted in any case.
        sources: The layers of files to read: some of `SETTING_SOURCES`.
    """
    config, problems = Config(), list[Problem]()
    if "user" in sources:
        config = _from_file(config, find_user_config_file(), problems)
    if project:
        is_trusted = is_trusted or is_in_trusted_folder(project, config)
        main_file = project / "lsp-harness.toml"
        files = {
            "project": main_file if os.path.lexists(main_file) else project / "localcode.toml",
            "local": project / "lsp-harness.local.toml",
        }
        for file in (file for source, file in files.items() if source in sources):
            config = _from_file(config, file, problems, project, is_trusted=is_trusted)
    return _from_env(config, os.environ if env is None else env, problems), problems


def apply_editor_settings(
    base: Config, settings: Mapping[str, Any], roots: Sequence[Path] = ()
) -> tuple[Config, list[str]]:
    """Apply the settings of an editor.

    Args:
        base: The settings of the other layers.
        settings: The settings of the editor as JSON, with the same tables and keys.
        roots: The workspace folders of the editor.

    Returns:
        The settings, and a message for each error.
    """
    problems: list[Problem] = []
    config = _merge_layer(base, settings, problems, Layer(is_editor=True, roots=roots))
    return config, [p.message for p in problems]


def is_in_trusted_folder(project: Path, config: Config) -> bool:
    """Return whether the user has written in the settings that a project is to be trusted."""
    try:
        folder = Path(os.path.realpath(project))
        trusted = [Path(os.path.realpath(os.path.expanduser(text))) for text in config.permissions.trusted_folders]
    except ValueError:
        return False
    return any(folder.is_relative_to(path) for path in trusted)


def _from_file(
    config: Config, file: Path, problems: list[Problem], project: Path | None = None, *, is_trusted: bool = True
) -> Config:
    try:
        text = read_text(file)
    except FileMissing:
        return config
    except FileError as error:
        problems.append(Problem(error.message, file))
        return _with_missing_rules(config, f"{file} cannot be read")
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        number = int(line.group(1)) - 1 if line else text.rstrip("\n").count("\n")
        problems.append(Problem(f"{file.name} is not valid TOML: {error}", file, number))
        return _with_missing_rules(config, f"{file} is not valid TOML")
    if project:
        for table in USER_ONLY_TABLES & settings.keys():
            problems.append(
                Problem(f"[{table}] may only be set in {find_user_config_file()}", file, _header_line(text, table))
            )
            del settings[table]
    return _merge_layer(
        config, settings, problems, Layer(file, text, roots=[project] if project else [], is_trusted=is_trusted)
    )


def _with_missing_rules(config: Config, reason: str) -> Config:
    return replace(config, missing_rules=(*config.missing_rules, reason))


def _from_env(config: Config, env: Mapping[str, str], problems: list[Problem]) -> Config:
    settings: dict[str, dict[str, str]] = {}
    for name, value in env.items():
        if name.startswith(ENV_PREFIX) and "__" in name:
            table, key = name.removeprefix(ENV_PREFIX).lower().split("__", 1)
            settings.setdefault(table, {})[key] = value
    return _merge_layer(config, settings, problems, Layer(has_text_values=True))


def _merge_layer(config: Config, settings: Mapping[str, Any], problems: list[Problem], layer: Layer) -> Config:
    schema = tables()
    for table, values in settings.items():
        header = _header_line(layer.text, table)
        if (table, type(values)) == ("actions", list):
            values = {"custom": values}
        if table == "runtime" and isinstance(values, Mapping):
            values = _name_agents(cast("Mapping[str, Any]", values))
        if table in schema and not isinstance(values, Mapping):
            problems.append(Problem(f"{table} must be a table, not {values!r}", layer.file, header))
            if table in RULE_TABLES:
                config = _with_missing_rules(config, f"{table} is not a table")
            continue
        if table == SERVER_TABLE:
            for key in cast("Mapping[str, Any]", values) if isinstance(values, Mapping) else ():
                if key != "servers":
                    message = f"unknown key {table}.{key}; the only key is servers"
                    problems.append(Problem(message, layer.file, header))
            continue
        if table not in schema:
            problems.append(Problem(f"unknown table [{table}]; the tables are {', '.join(schema)}", layer.file, header))
            continue
        for key, value in cast("Mapping[str, Any]", values).items():
            line = _find_line(layer.text, rf"\[*({re.escape(table)}\s*\.\s*)?{re.escape(key)}\s*[].=]", header)
            if key not in schema[table]:
                problems.append(
                    Problem(f"unknown key {table}.{key}; the keys are {', '.join(schema[table])}", layer.file, line)
                )
                if table in RULE_TABLES:
                    config = _with_missing_rules(config, f"{table}.{key} is unknown")
                continue
            if refusal := _find_refusal(layer, table, key, value):
                problems.append(Problem(refusal, layer.file, line))
                continue
            kind, _ = schema[table][key]
            config = _set_value(config, (table, key, kind), value, problems, (layer, line))
    return config


def _name_agents(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table `runtime` with the tables `runtime.agents.NAME` as a list of tables with names."""
    agents = values.get("agents")
    if not isinstance(agents, Mapping):
        return values
    named = cast("Mapping[str, Any]", agents).items()
    tables = [
        {**cast("Mapping[str, Any]", agent), "name": name} if isinstance(agent, Mapping) else agent
        for name, agent in named
    ]
    return {**values, "agents": tables}


def _set_value(
    config: Config, setting: tuple[str, str, Kind], value: Any, problems: list[Problem], place: tuple[Layer, int]
) -> Config:
    """Return the settings with one more value. A list is added to those of the layers before."""
    (table, key, kind), (layer, line) = setting, place
    current = getattr(getattr(config, table), key)
    if isinstance(current, tuple):
        # `[[actions]]` is a short form
        name_in_file = "actions" if (table, key) == ("actions", "custom") else f"{table}.{key}"
        wanted = Wanted(name_in_file, kind, layer.file, line, layer.text)
        items, mistakes = read_list(wanted, value, has_text_values=layer.has_text_values)
        for mistake in mistakes:
            problems.append(Problem(mistake.message, layer.file, mistake.line))
            config = _with_missing_rules(config, mistake.message)
        converted: Any = (*current, *items)
    elif (name := f"{table}.{key}") in WORDS:
        converted = convert_word(name, value, has_text_values=layer.has_text_values)
        if converted is None:
            message = f"{name} must be one of {', '.join(WORDS[name])}, or true or false, not {value!r}"
            problems.append(Problem(message, layer.file, line))
            return config
    else:
        converted = convert_value(kind, value, has_text_values=layer.has_text_values)
        if converted is None:
            problems.append(Problem(f"{table}.{key} must be {type_name(kind)}, not {value!r}", layer.file, line))
            return _with_missing_rules(config, f"{table}.{key} is not valid") if table in RULE_TABLES else config
    if table in RULE_TABLES:
        converted, message = restrict_value((table, key), current, converted, is_trusted=layer.is_trusted)
        if message:
            remedy = "" if layer.is_trusted else f"; {trust_remedy()}"
            problems.append(Problem(f"{message}{remedy}", layer.file, line))
            if layer.is_trusted:
                config = _with_missing_rules(config, message)
    if converted == current:
        return config
    return replace(config, **{table: replace(getattr(config, table), **{key: converted})})


def trust_remedy() -> str:
    """Return what to do so that a project is trusted."""
    return f"to trust this project, add its folder to permissions.trusted_folders in {find_user_config_file()}"


def _find_refusal(layer: Layer, table: str, key: str, value: object) -> str:
    """Return why a layer of settings may not set a key to a value. Empty if it may."""
    place = f"{find_user_config_file()} or {ENV_PREFIX}{table.upper()}__{key.upper()}"
    if layer.is_editor and key in EDITOR_FORBIDDEN_KEYS.get(table, ()):
        return f"{table}.{key} cannot be set by an editor; set it in {place}"
    if (
        (table, key) in MODEL_FILE_KEYS
        and isinstance(value, str)
        and is_model_file(value)
        and _may_be_project_file(layer, value)
    ):
        return f"{table}.{key}: {value} is a file in the project, which is not trusted; set it in {place}"
    return ""


def _may_be_project_file(layer: Layer, path: str) -> bool:
    """Return whether a project, or an editor with workspace settings, names a file that may be in the project."""
    if not (layer.roots or layer.is_editor):
        return False
    try:
        expanded = os.path.expanduser(path)
        file = Path(os.path.realpath(expanded))
        return not os.path.isabs(expanded) or any(file.is_relative_to(os.path.realpath(root)) for root in layer.roots)
    except ValueError:
        # text that cannot be a path: it contains a NUL or half a surrogate pair
        return True


def _header_line(text: str, table: str) -> int:
    """Return the line of the header of a table, or of the first key that is written `table.key`."""
    return _find_line(text, rf"\[\s*{re.escape(table)}\s*[].]|{re.escape(table)}\s*[.=]")


def _find_line(text: str, pattern: str, after: int = 0) -> int:
    """Return the first line from `after` on that begins with the pattern, or `after` if there is none."""
    for number, line in enumerate(text.split("\n")):
        if number >= after and re.match(pattern, line.strip().replace('"', "")):
            return number
    return after
