"""Does this machine survive llama.cpp's special weight layouts?

Some virtual machines advertise AMX and then fault on it, which kills the process. So the first start of an engine on
a machine tries one small batch in a child process; the answer is kept per processor and binding version.
"""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileProblem


def processor() -> str:
    """What tells this kind of processor from others."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("flags"):
                import hashlib

                return hashlib.sha256(line.encode()).hexdigest()[:16]
    except OSError:
        pass
    import platform

    return platform.processor() or platform.machine()


def repacking_works(model: Path) -> bool:
    """Whether the model can be loaded with repacked weights (`use_extra_bufts`)."""
    file = paths.cache() / "probe.json"
    key = f"{processor()}/{version('llama-cpp-python')}/{model.name}/{model.stat().st_size}"
    try:
        found: Any = json.loads(read_text(file))
    except (FileProblem, ValueError):
        found = {}
    known = cast("dict[str, bool]", found) if isinstance(found, dict) else {}
    if key not in known:
        try:
            child = subprocess.run(
                [sys.executable, "-P", "-m", __name__, str(model)], capture_output=True, check=False, timeout=120
            )
            known[key] = child.returncode == 0
        except subprocess.TimeoutExpired:
            known[key] = False
        # a disk that is full costs the next start another look, not this one the engine
        try:
            write_own_file(file, json.dumps(known).encode())
        except OSError as error:
            paths.unkept("what this processor can do", paths.CACHE, file, error)
    return known[key]


if __name__ == "__main__":
    from lsp_harness.engine.decode.llama import Llama, Row

    llama = Llama(
        Path(sys.argv[1]), n_ctx=64, n_seq=1, n_batch=32, threads=1, decode_threads=1, n_gpu_layers=0, repack=True
    )
    llama.decode([Row(0, 0, [1] * 32)])
    llama.decode([Row(0, 32, [1])])
