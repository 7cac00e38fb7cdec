"""The MCP servers of a session: those of the files of settings, and those of the file that the options name."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from lsp_harness.chat.mcp.server_specs import ChosenServers, SettingsLayer, choose_servers
from lsp_harness.config.load import SETTING_SOURCES, find_user_config_file
from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.sessions.session_options import SessionOptions


def find_servers(options: SessionOptions, *, is_trusted: bool) -> ChosenServers:
    """Return the MCP servers of a session. If the project is not trusted, no program that its files name is started.

    Raises:
        ConfigError: The file that the options name is not valid, or a server in it.
    """
    config = Path(options.mcp_config).absolute() if options.mcp_config else None
    layers = [] if options.bare or options.strict_mcp_config else list(_read_layers(options))
    return choose_servers(layers, config, is_trusted=is_trusted)


def _read_layers(options: SessionOptions) -> Iterator[SettingsLayer]:
    root = options.root
    sources = SETTING_SOURCES if options.setting_sources is None else options.setting_sources
    files = {
        "user": find_user_config_file(),
        "project": root / "lsp-harness.toml",
        "local": root / "lsp-harness.local.toml",
    }
    for source, file in files.items():
        if source not in sources:
            continue
        try:
            table = tomllib.loads(read_text(file))
        except (FileError, tomllib.TOMLDecodeError):
            # `config.load` reports the mistakes in these files
            continue
        yield SettingsLayer(table, str(file), is_project=source != "user")
