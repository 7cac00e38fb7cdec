"""A probe whether llama.cpp's special weight layouts work on this machine.

Some virtual machines advertise AMX and then fault on it, which kills the process. Therefore the first engine that
starts on such a machine tries one small batch in a child process. The result is kept for each processor and library of
llama.cpp. A processor that does not advertise AMX needs no probe, which loads the whole model.
"""

import hashlib
import platform
import subprocess
import sys
from pathlib import Path

from lsp_harness.engine.decode.kept_results import find_or_check
from lsp_harness.inference.libraries.library_choice import EngineLibrary

PROBE_TIMEOUT_S = 120


def identify_processor() -> str:
    """Return a name for this kind of processor."""
    if flags := _read_flags():
        return hashlib.sha256(flags.encode()).hexdigest()[:16]
    return platform.processor() or platform.machine()


def may_have_amx() -> bool:
    """Return whether the processor advertises AMX. True also means that its features are not known."""
    flags = _read_flags()
    return not flags or any(flag.startswith("amx") for flag in flags.split())


def _read_flags() -> str:
    """Return the line of Linux with the features of an x86 processor, or an empty text if there is none."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith("flags")), "")


def can_repack(model: Path, library: EngineLibrary) -> bool:
    """Return whether the model can be used with repacked weights (`use_extra_bufts`).

    Args:
        model: The model file.
        library: The library of llama.cpp.
    """
    if not may_have_amx():
        return True
    key = f"{identify_processor()}/{library.identity}/{model.name}/{model.stat().st_size}"
    return find_or_check("probe.json", key, lambda: _try_batch(model, library), "what this processor can do")


def _try_batch(model: Path, library: EngineLibrary) -> bool:
    """Return whether a child process survives a batch with repacked weights."""
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-m", __name__, str(model), library.name],
            capture_output=True,
            check=False,
            timeout=PROBE_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return False
    return child.returncode == 0


if __name__ == "__main__":
    from lsp_harness.engine.decode.llama import Llama, TokenRow
    from lsp_harness.engine.native.loaded_library import lib
    from lsp_harness.inference.libraries.library_choice import find_library

    lib.load(find_library(sys.argv[2]))

    llama = Llama(Path(sys.argv[1]), n_ctx=64, n_seq=1, n_batch=32, threads=1, n_gpu_layers=0, repack=True)
    llama.decode([TokenRow(0, 0, [1] * 32)])
    llama.decode([TokenRow(0, 32, [1])])
