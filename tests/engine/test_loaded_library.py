"""Tests of the library that a process loads: what is refused, and that each library gives the same answers."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_harness.engine.native import declarations
from lsp_harness.engine.native.declarations import ContextParameters, ModelParameters
from lsp_harness.engine.native.loaded_library import LoadedLibrary, _check_defaults, lib
from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries.library_choice import EngineLibrary, find_library

FOLDER = EngineLibrary("here", "folder", Path("/here"), "")
ANSWER = """
import sys
from pathlib import Path
from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.inference.libraries.library_choice import find_library
lib.load(find_library(sys.argv[1]))
from lsp_harness.engine.decode.llama import Llama, TokenRow
llama = Llama(Path(sys.argv[2]), n_ctx=128, n_seq=2, n_batch=64, threads=1, n_gpu_layers=0, repack=False)
tokens = list(range(5, 37))
llama.decode([TokenRow(0, 0, tokens)])
token, answer = int(llama.logits(31).argmax()), []
for place in range(32, 72):
    answer.append(token)
    llama.decode([TokenRow(0, place, [token])])
    token = int(llama.logits(0).argmax())
print(answer)
"""


def list_of(folder: Path) -> EngineLibrary:
    return EngineLibrary("here", "folder", folder, "")


def test_the_layouts_have_the_sizes_of_llama_cpp():
    assert (ctypes.sizeof(ModelParameters), ctypes.sizeof(ContextParameters)) == (80, 160)


def test_this_process_knows_its_library_and_its_devices():
    lib.llama_backend_init()
    assert lib.library.folder == find_library().folder
    assert lib.devices


def test_another_library_cannot_be_loaded_later(tmp_path: Path):
    lib.llama_backend_init()
    with pytest.raises(LibraryError, match=r"this process has loaded llama\.cpp from .*; start it again"):
        lib.load(list_of(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("libllama.so", b"no library", "llama.cpp cannot be loaded from .*: .*file too short|invalid ELF header"),
        ("readme.txt", b"", "llama.cpp cannot be loaded from .*: the folder has no file of llama.cpp"),
    ],
)
def test_a_folder_without_a_library_is_refused(tmp_path: Path, name: str, content: bytes, reason: str):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LibraryError, match=reason):
        LoadedLibrary().load(list_of(tmp_path))


def test_a_library_without_a_function_is_refused(tmp_path: Path):
    # any library of the system that is not llama.cpp
    shutil.copy(find_system_library(), tmp_path / "libllama.so")
    with pytest.raises(LibraryError, match=r"has no function llama_log_set; use one of the versions that "):
        LoadedLibrary().load(list_of(tmp_path))


def find_system_library() -> str:
    """Return the file of a library that this process has loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in lines if "/libm.so" in line or "/libm-" in line)


@pytest.mark.parametrize(("field", "value"), [("n_gpu_layers", 0), ("use_extra_bufts", False), ("no_host", True)])
def test_another_layout_of_the_parameters_is_refused(field: str, value: int):
    parameters = lib.llama_model_default_params()
    _check_defaults(parameters, declarations.MODEL_DEFAULTS, FOLDER)
    setattr(parameters, field, value)
    with pytest.raises(
        LibraryError, match=rf"another interface than the versions that this program knows \({field} is "
    ):
        _check_defaults(parameters, declarations.MODEL_DEFAULTS, FOLDER)


@pytest.mark.process
def test_all_libraries_of_this_machine_give_the_same_answer(tiny_model: Path):
    names = [name for name in ("linux-x64", "compiled") if is_here(name)]
    if len(names) < 2:
        pytest.skip("a prebuilt and a compiled library are needed: pip install llama-cpp-python")
    answers = {name: ask(name, tiny_model) for name in names}
    assert len({*answers.values()}) == 1, answers


def is_here(name: str) -> bool:
    try:
        return bool(find_library(name))
    except LibraryError:
        return False


def ask(name: str, model: Path) -> str:
    """Return the greedy tokens of a library in a process of its own."""
    argv = [sys.executable, "-P", "-c", ANSWER, name, str(model)]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout
