"""Programs that stand for `lsp-harness session`: a script with one function for each prompt.

Each fake is a file with the mode 0755. Its frames are those of the real program.
"""

import sys
from pathlib import Path
from textwrap import dedent

PRELUDE = '''\
#!{python} -S
import json, os, select, signal, subprocess, sys, threading, time

SESSION = "01TESTSESSION"
seq = 0

def put(type, **fields):
    """Write a frame. A field without a value is left out."""
    global seq
    logged = fields.pop("logged", True)
    frame = {{"type": type, "session_id": SESSION, "seq": seq if logged else None, "turn": fields.pop("turn", None)}}
    seq += logged
    sys.stdout.write(json.dumps({{**frame, **fields}}) + "\\n")
    sys.stdout.flush()

def get():
    """Return the next frame of the client, or None at the end."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None

def option(name, default=None):
    for argument in sys.argv[2:]:
        if argument == "--" + name:
            return True
        if argument.startswith("--" + name + "="):
            return argument.partition("=")[2]
    return default

def ready(**fields):
    values = dict(version="0.1.0", wire=1, model="tiny", resumed_events=0, cwd=os.getcwd(),
                  permission_mode=option("permission-mode"))
    put("ready", logged=False, **{{**values, **fields}})

def respond(frame, ok=True, **fields):
    put("response", logged=False, command=frame["command"], request_id=frame.get("request_id"), ok=ok, **fields)

def start(frame, number):
    put("turn_start", id=frame["id"], turn=number, turn_number=number)

def say(frame, number, text):
    put("text", id=frame["id"], turn=number, content=text, logged=False)

def stop(frame, number, reason="completed", **fields):
    put("turn_stop", id=frame["id"], turn=number, turn_number=number, reason=reason, **fields)

def answer(frame, number):
    """Answer a prompt with its own text."""
    start(frame, number)
    say(frame, number, "echo ")
    say(frame, number, frame["prompt"])
    stop(frame, number, text="echo " + frame["prompt"])

def serve(on_prompt=answer, on_command=None):
    """Answer prompts until the client ends the session."""
    number = 0
    while (frame := get()) is not None:
        if frame.get("command") == "exit":
            return
        if "prompt" in frame:
            on_prompt(frame, number)
            number += 1
        elif on_command:
            on_command(frame)
        else:
            respond(frame)

assert sys.argv[1] == "session", sys.argv
'''


def write_fake(folder: Path, body: str = "ready()\nserve()") -> Path:
    """Write a program with `body` after the prelude, and return its path."""
    path = folder / "lsp-harness"
    path.write_text(PRELUDE.format(python=sys.executable) + dedent(body) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path
