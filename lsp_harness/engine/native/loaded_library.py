"""The library of llama.cpp that this process has loaded.

A process loads one library, at the first use or before it with `lib.load`.
"""

import ctypes
import os
import re
import sys
from pathlib import Path
from typing import Any

from lsp_harness.engine.native import declarations
from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries.library_choice import EngineLibrary, find_library

LOAD_ORDER = ("ggml-base", "ggml-cpu", "ggml", "llama")
"""Each library needs those before it. `ggml-cpu` is a file of its own in a compiled library only."""
VERSION = r"(\.v?[\d.]+?)?"


def _discard_log(level: int, text: bytes, data: object) -> None: ...


SILENT_LOG = declarations.LogCallback(_discard_log)
"""llama.cpp keeps the pointer until the process ends."""


class LoadedLibrary:
    """The functions of llama.cpp. If no library is loaded, the first call loads the one that `find_library` chooses."""

    def __init__(self) -> None:
        self.library: EngineLibrary | None = None
        self.devices: tuple[str, ...] = ()
        """The names of the processors and graphics cards that the library can use."""
        self.graphics_memory: dict[str, int] = {}
        """The bytes of memory of each graphics card."""

    def __getattr__(self, name: str) -> Any:
        # Only a function that was not looked up before comes here.
        if name not in declarations.FUNCTIONS or self.library is not None:
            raise AttributeError(name)
        self.load(find_library())
        return getattr(self, name)

    def load(self, library: EngineLibrary) -> None:
        """Load a library, unless this process has loaded it already.

        Args:
            library: The library.

        Raises:
            LibraryError: The library cannot be loaded, it has another interface, it has no code for this processor, or
                this process has loaded another one.
        """
        if self.library is not None:
            if self.library.folder != library.folder:
                raise LibraryError(
                    f"this process has loaded llama.cpp from {self.library.folder}; start it again to use another one"
                )
            return
        try:
            handles = _load_files(library.folder)
        except OSError as error:
            raise LibraryError(f"llama.cpp cannot be loaded from {library.folder}: {error}") from error
        functions = _bind(declarations.FUNCTIONS, handles, library) | _bind(
            declarations.BACKEND_FUNCTIONS, handles, library
        )
        _check_defaults(functions["llama_model_default_params"](), declarations.MODEL_DEFAULTS, library)
        _check_defaults(functions["llama_context_default_params"](), declarations.CONTEXT_DEFAULTS, library)
        # a command prints only what it is asked for; an engine sets the log again
        functions["llama_log_set"](SILENT_LOG, None)
        if not functions["ggml_backend_dev_count"]():
            # a compiled library contains its code for processors, and others have a file for each generation
            functions["ggml_backend_load_all_from_path"](os.fsencode(library.folder))
        self.devices = _list_devices(functions)
        self.graphics_memory = _read_graphics_memory(functions)
        if not self.devices:
            raise LibraryError(
                f"llama.cpp in {library.folder} has no code for this processor; run: "
                "lsp-harness engine libraries use compiled"
            )
        self.__dict__ |= functions
        self.library = library


def _load_files(folder: Path) -> list[ctypes.CDLL]:
    """Load the files of a library into this process, each after those that it needs."""
    names = sorted((file.name for file in folder.iterdir()), key=len)
    handles: list[ctypes.CDLL] = []
    if sys.platform == "win32":
        os.add_dll_directory(str(folder))
    for part in LOAD_ORDER:
        pattern = re.compile(rf"(lib)?{part}{VERSION}\.(so|dylib|dll)(\.[\d.]+)?")
        # the shortest name: others are links to it, or contain a version
        if name := next((name for name in names if pattern.fullmatch(name)), ""):
            handles.append(ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL))
    if not handles:
        raise OSError("the folder has no file of llama.cpp")
    return handles


def _bind(
    wanted: dict[str, tuple[Any, tuple[Any, ...]]], handles: list[ctypes.CDLL], library: EngineLibrary
) -> dict[str, Any]:
    bound: dict[str, Any] = {}
    for name, (result, arguments) in wanted.items():
        function = next((getattr(handle, name) for handle in reversed(handles) if hasattr(handle, name)), None)
        if function is None:
            raise LibraryError(
                f"llama.cpp in {library.folder} has no function {name}; use one of the versions that "
                "`lsp-harness engine libraries list` shows"
            )
        function.restype, function.argtypes = result, arguments
        bound[name] = function
    return bound


def _check_defaults(parameters: Any, expected: dict[str, Any], library: EngineLibrary) -> None:
    """Raise LibraryError if default parameters are not the expected ones, so that the layout is another one."""
    for name, *_ in parameters._fields_:
        value = getattr(parameters, name)
        if (value or None) != expected.get(name):
            raise LibraryError(
                f"llama.cpp in {library.folder} has another interface than the versions that this program knows "
                f"({name} is {value!r}); use one that `lsp-harness engine libraries list` shows"
            )


def _list_devices(functions: dict[str, Any]) -> tuple[str, ...]:
    get, describe = functions["ggml_backend_dev_get"], functions["ggml_backend_dev_description"]
    return tuple(
        (describe(get(number)) or b"").decode("utf-8", "replace")
        for number in range(functions["ggml_backend_dev_count"]())
    )


def _read_graphics_memory(functions: dict[str, Any]) -> dict[str, int]:
    """Return the bytes of memory of each graphics card, by its description."""
    memory: dict[str, int] = {}
    for number in range(functions["ggml_backend_dev_count"]()):
        device = functions["ggml_backend_dev_get"](number)
        if functions["ggml_backend_dev_type"](device) in declarations.GRAPHICS_DEVICES:
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            functions["ggml_backend_dev_memory"](device, ctypes.byref(free), ctypes.byref(total))
            memory[(functions["ggml_backend_dev_description"](device) or b"").decode("utf-8", "replace")] = total.value
    return memory


lib: Any = LoadedLibrary()
"""The functions of llama.cpp, by their names in `llama.h`. They are not typed."""
