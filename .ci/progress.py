"""Reads pip's verbose output and says in one line what it is doing; a log gets a line now and then."""

import re
import sys

STEP = re.compile(r"^\s*\[\s*(\d+)/(\d+)\]|^\s*\[\s*(\d+)%\]")
tty = sys.stdout.isatty()
last = ""


def show(text: str, *, always: bool) -> None:
    global last
    if text == last:
        return
    last = text
    if tty:
        print(f"\r      {text:<70.70}", end="", flush=True)
    elif always:
        print(f"      {text}", flush=True)


for line in sys.stdin:
    if match := STEP.match(line):
        done, of, percent = match.groups()
        share = int(percent) if percent else 100 * int(done) // int(of)
        show(f"compiling llama.cpp: {share} %", always=share % 10 == 0)
    elif line.startswith("Collecting "):
        show(f"resolving {line.split()[1]}", always=False)
    elif "Downloading " in line:
        show(f"downloading {line.split('Downloading ')[1].split()[0].rsplit('/', 1)[-1]}", always=False)
    elif line.startswith("Successfully installed"):
        show("installed", always=True)
if tty:
    print()
