"""A probe whether llama.cpp's special weight layouts work on this machine.

Some virtual machines advertise AMX and then fault on it, which kills the process. Therefore the first engine that
starts on a machine tries one small batch in a child process. The result is kept for each processor and library of
llama.cpp.
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
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("flags"):
                return hashlib.sha256(line.encode()).hexdigest()[:16]
    except OSError:
        pass
    return platform.processor() or platform.machine()


def can_repack(model: Path, library: EngineLibrary) -> bool:
    """Return whether the model can be used with repacked weights (`use_extra_bufts`).

    Args:
        model: The model file.
        library: The library of llama.cpp.
    """
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
