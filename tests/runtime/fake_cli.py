"""A program that looks like a coding agent in a terminal. It shows each state on command.

    python tests/runtime/fake_cli.py [options]

A message is answered with `You said: …`, or it is one of these commands:

    /slow SECONDS       work for so long, with a spinner; Escape interrupts
    /until FILE         the same until a file of the working folder exists
    /hang               work until it is killed; Escape does nothing
    /permit TOOL TEXT   ask for a permission; `write` as TOOL then writes the file TEXT
    /question TEXT      ask a question that is answered with a text
    /theme              show a dialog that nobody knows
    /login              show the address of a login, until Escape or a code
    /say TEXT           print a text as it is, such as one that looks like a dialog
    /lines N            print N lines
    /write FILE TEXT    write a text into a file of the working folder, `\\n` is a line break
    /env NAME           print a variable of the environment
    /spawn KIND         start a process that escapes in one of the six ways, and go on
    /exit STATUS        end

It reports its states (OSC 7501) if the terminal answers its query, as claude does, or always with `--reports always`.
It needs nothing but Python, and runs without the packages of the project.
"""

import argparse
import base64
import os
import select
import signal
import subprocess
import sys
import termios
import time
import tty

URL = "https://login.example.com/oauth/authorize?client_id=fake&scope=" + "x" * 200 + "&state=end"
SPINNER = "✢✳✶✻✽"
RULE = "─"
PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"
STEP_S = 0.1
ESCAPES = {
    "background": "sleep 300 &",
    "setsid": "setsid sleep 300 &",
    "nohup": "nohup setsid sleep 300 >/dev/null 2>&1 &",
    "subshell": "(setsid sleep 300 &)",
    "env": "env -i /usr/bin/setsid /usr/bin/sleep 300 &",
    "double": "sh -c '(setsid sh -c \"sleep 300 & exit\" &)'",
}
"""Way to leave an agent → the command of a shell that does it."""


class KeyReader:
    """A reader of the keys that are typed into the terminal.

    Attributes:
        knows_reports: Whether the terminal has answered the query about reports of states.
    """

    def __init__(self) -> None:
        self.knows_reports = False
        self._pending = ""

    def read(self, wait_s: float | None) -> str:
        """Return the next key, or an empty text after a time. An escape sequence and a paste mark are one key."""
        while True:
            if self._pending and (key := self._take_key()):
                return key
            limit = 0.05 if self._pending else wait_s
            ready, _, _ = select.select([0], [], [], limit)
            if not ready:
                if self._pending:
                    key, self._pending = self._pending[0], self._pending[1:]
                    return key
                return ""
            data = os.read(0, 65536)
            if not data:
                sys.exit(0)
            self._pending += data.decode("utf-8", "replace")

    def _take_key(self) -> str:
        """Return a whole key of what was read, or an empty text if its rest is missing."""
        text = self._pending
        if text.startswith("\x1b]"):
            end = text.find("\x1b\\")
            if end < 0:
                return ""
            self._pending = text[end + 2 :]
            self.knows_reports |= text[2:end] == "7501;?"
            return "\x1b]"
        if text.startswith("\x1b["):
            for number, sign in enumerate(text[2:], 2):
                if "@" <= sign <= "~":
                    self._pending = text[number + 1 :]
                    return text[: number + 1]
            return ""
        if text == "\x1b":
            return ""
        self._pending = text[1:]
        return text[0]


class FakeCli:
    """The program.

    Args:
        options: The options of the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.keys = KeyReader()
        self.area = 0
        self.cursor_up = 0
        self.last_state = ""
        self.is_pasting = False
        self.ignored_enters = options.ignore_enter

    # -- output
    def write(self, text: str) -> None:
        """Print a text at once."""
        sys.stdout.write(text)
        sys.stdout.flush()

    def report(self, state: str, kind: str = "", message: str = "") -> None:
        """Report a state, if the terminal knows such reports, and set the title."""
        if self.options.reports == "always" or (self.options.reports == "asked" and self.keys.knows_reports):
            parts = [f"state={state}", "app=fake"]
            parts += [f"kind={kind}"] if kind else []
            parts += [f"msg={base64.b64encode(message.encode()).decode()}"] if message else []
            self.write(f"\x1b]7501;{':'.join(parts)}\x1b\\")
        elif self.options.titles:
            self.write(f"\x1b]0;{'◐' if state == 'working' else '✳'} Fake\x07")
        self.last_state = state

    def print(self, text: str = "") -> None:
        """Print lines above the live area."""
        self.clear_area()
        self.write(text.replace("\n", "\r\n") + "\r\n")

    def clear_area(self) -> None:
        """Remove the live area at the bottom."""
        if self.area:
            down = self.cursor_up
            up = self.area - 1 - down
            self.write((f"\x1b[{up}A" if up else "") + "\r\x1b[J")
            self.area = self.cursor_up = 0

    def draw(self, rows: list[str], cursor: tuple[int, int]) -> None:
        """Show the live area, with the cursor at a row and a column of it."""
        self.clear_area()
        self.write("\r\n".join(rows))
        self.area, self.cursor_up = len(rows), len(rows) - 1 - cursor[0]
        self.write((f"\x1b[{self.cursor_up}A" if self.cursor_up else "") + f"\r\x1b[{cursor[1]}C")

    # -- screens
    def start(self) -> None:
        """Show what comes before the first prompt."""
        if self.options.slow_start:
            time.sleep(self.options.slow_start)
        if self.options.exit is not None:
            self.write("the fake agent cannot start\r\n")
            sys.exit(self.options.exit)
        if self.options.reports == "asked":
            self.write("\x1b]7501;?\x1b\\")
            while key := self.keys.read(0.3):
                if key == "\x1b]":
                    break
        self.print(f"Fake agent in {os.getcwd()}")
        if self.options.trust and not self.choose(
            "trust", "Do you trust the files in this folder?", "", ["No, exit", "Yes, I trust this folder"]
        ).startswith("Yes"):
            self.print("The fake agent did not start because this folder is not trusted")
            sys.exit(1)
        if self.options.login:
            self.log_in()

    def run(self) -> None:
        """Answer messages until the end."""
        self.start()
        while True:
            self.report("idle")
            message = self.read_message()
            self.clear_area()
            self.write("❯ " + message.replace("\n", "\r\n  ") + "\r\n")
            show_work(self)
            self.answer(message)

    def read_message(self) -> str:
        """Show the prompt and return what was typed into it."""
        text, interrupts = "", 0
        width = os.get_terminal_size().columns
        while True:
            lines = text.split("\n") if not self.options.no_echo else [""]
            rows = [RULE * width, *(("❯ " if number == 0 else "  ") + line for number, line in enumerate(lines))]
            hint = "  Press Ctrl-C again to exit" if interrupts else "  ? for shortcuts"
            if len(max(lines, key=len)) < width - 4:
                self.draw([*rows, RULE * width, hint], (len(lines), 2 + len(lines[-1])))
            key = self.keys.read(None)
            if key in (PASTE_BEGIN, PASTE_END):
                self.is_pasting = key == PASTE_BEGIN
            elif self.is_pasting and key in "\r\n":
                text += "\n"
            elif key == "\r":
                if self.ignored_enters:
                    self.ignored_enters -= 1
                elif text.strip():
                    return text
            elif key == "\x03":
                interrupts += 1
                text = ""
                if interrupts == 2:
                    self.leave(0)
                continue
            elif key == "\x04" and not text:
                self.leave(0)
            elif key == "\x7f":
                text = text[:-1]
            elif key.isprintable():
                text += key
            interrupts = 0

    def leave(self, status: int) -> None:
        """End with a status."""
        self.clear_area()
        self.report("clear")
        sys.exit(status)

    def answer(self, message: str) -> None:
        """Do what a message says."""
        command, _, rest = message.partition(" ")
        if command != "/exit":
            self.report("working")
        match command:
            case "/slow":
                self.spin(float(rest))
            case "/until":
                self.spin(float("inf"), file=rest)
            case "/hang":
                while True:
                    self.draw([f"✽ Thinking… (esc to interrupt) {time.monotonic():.1f}"], (0, 0))
                    time.sleep(STEP_S)
            case "/permit":
                self.permit(*rest.split(" ", 1))
            case "/question":
                self.ask(rest)
            case "/theme":
                choice = self.choose("", "Choose the text style that looks best", "", ["Dark", "Light"])
                self.print(f"● The style is {choice}")
            case "/login":
                self.log_in()
            case "/say":
                self.print(rest.replace("\\n", "\n"))
            case "/lines":
                self.print("\n".join(f"line {number}" for number in range(1, int(rest) + 1)))
            case "/write":
                name, _, content = rest.partition(" ")
                with open(name, "w", encoding="utf-8") as file:
                    file.write(content.replace("\\n", "\n"))
                self.print(f"● Wrote {name}")
            case "/env":
                self.print(f"● {rest}={os.environ.get(rest, '')}")
            case "/spawn":
                subprocess.run(["/bin/bash", "-c", ESCAPES[rest]], stdin=subprocess.DEVNULL, check=True)
                self.print(f"● Started {rest}")
            case "/exit":
                self.leave(int(rest or 0))
            case _:
                self.print(f"● You said: {message}")

    def spin(self, seconds: float, file: str = "") -> None:
        """Show a spinner for some time, or until a file exists. Escape and Ctrl-C interrupt it."""
        end, number = time.monotonic() + seconds, 0
        while (left := end - time.monotonic()) > 0 and not (file and os.path.exists(file)):
            self.draw([f"{SPINNER[number % 5]} Thinking… ({left:.0f}s · esc to interrupt)"], (0, 0))
            number += 1
            if self.keys.read(STEP_S) in ("\x1b", "\x03"):
                self.print("⎿ Interrupted")
                return
        self.print("● Worked")

    def permit(self, tool: str, text: str = "") -> None:
        """Ask for a permission, and do it if it is allowed."""
        options = ["Yes", "Yes, and don't ask again", "No, and tell the agent what to do differently (esc)"]
        choice = self.choose("permission", f"Do you want to use {tool}?", f"{tool} {text}", options)
        self.report("working")
        if not choice.startswith("Yes"):
            self.print(f"● {tool} was denied")
            return
        if tool == "write":
            with open(text, "w", encoding="utf-8") as file:
                file.write("written\n")
        self.print(f"● {tool} was allowed")

    def choose(self, kind: str, question: str, body: str, options: list[str]) -> str:
        """Show a dialog and return the label that was chosen, or an empty text for Escape."""
        self.report("blocked", kind, f"{question} {body}".strip())
        chosen = 0
        while True:
            width = os.get_terminal_size().columns
            rows = [RULE * width, *([f" {body}", ""] if body else []), f" {question}"]
            rows += [
                f" {'❯' if number == chosen else ' '} {number + 1}. {label}" for number, label in enumerate(options)
            ]
            rows += ["", " Enter to confirm · Esc to cancel"]
            self.draw(rows, (len(rows) - 3 - len(options) + 1 + chosen, 1))
            while (key := self.keys.read(None)) == "\r" and self.ignored_enters:
                self.ignored_enters -= 1
            if self.options.stuck:
                continue
            if key == "\x1b[A":
                chosen = max(0, chosen - 1)
            elif key == "\x1b[B":
                chosen = min(len(options) - 1, chosen + 1)
            elif key == "\r":
                self.clear_area()
                return options[chosen]
            elif key == "\x1b":
                self.clear_area()
                return ""
            elif key.isdecimal() and 1 <= int(key) <= len(options):
                self.clear_area()
                return options[int(key) - 1]

    def ask(self, question: str) -> None:
        """Ask a question that is answered with a text."""
        self.report("blocked", "question", question)
        text = ""
        while True:
            self.draw([f" {question}", f" › {text}", " Enter to submit · Esc to cancel"], (1, 3 + len(text)))
            key = self.keys.read(None)
            if key in ("\r", "\x1b"):
                break
            if key.isprintable():
                text += key
        self.report("working")
        self.print(f"● The answer is {text}")

    def log_in(self) -> None:
        """Show the address of a login until a code comes, or Escape."""
        self.clear_area()
        self.report("blocked", "auth", "Not logged in · Please run /login")
        self.write("Browser didn't open? Use the URL below to sign in\r\n\r\n")
        width = os.get_terminal_size().columns
        rows = [URL[start : start + width] for start in range(0, len(URL), width)]
        self.write("\r\n".join(f"\x1b]8;;{URL}\x1b\\{row}\x1b]8;;\x1b\\" for row in rows))
        self.write("\r\n\r\nPaste code here if prompted > ")
        while (key := self.keys.read(None)) not in ("\r", "\x1b"):
            if key.isprintable():
                self.write("*")
        self.write("\r\n")
        self.report("working")
        self.print("● Logged in" if key == "\r" else "● Login cancelled")


def show_work(cli: FakeCli) -> None:
    """Show a moment of work, as agents do that have no reports. An agent on a busy machine looks idle before."""
    if cli.options.late_work:
        width = os.get_terminal_size().columns
        cli.draw([RULE * width, "❯ ", RULE * width, "  ? for shortcuts"], (1, 2))
        time.sleep(cli.options.late_work)
    if cli.options.reports == "never" and not cli.options.hidden_work:
        cli.draw(["✽ Thinking… (esc to interrupt)"], (0, 0))
        time.sleep(STEP_S)


def main() -> None:
    """Run in a terminal whose modes are restored at the end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", action="version", version="fake 1.2.3")
    parser.add_argument("--reports", choices=["always", "asked", "never"], default="asked")
    parser.add_argument("--titles", action="store_true", help="show the state in the title, without reports")
    parser.add_argument("--trust", action="store_true", help="ask first whether the folder is trusted")
    parser.add_argument("--login", action="store_true", help="want a login first")
    parser.add_argument("--slow-start", type=float, default=0.0)
    parser.add_argument("--late-work", type=float, default=0.0, help="look idle so long after each message")
    parser.add_argument("--hidden-work", action="store_true", help="never show a moment of work")
    parser.add_argument("--exit", type=int, help="end at once with this status")
    parser.add_argument("--ignore-enter", type=int, default=0, help="lose Enter so many times")
    parser.add_argument("--ignore-term", action="store_true", help="do not end by SIGTERM")
    parser.add_argument("--no-echo", action="store_true", help="do not show what is typed")
    parser.add_argument("--stuck", action="store_true", help="dialogs do not react to keys")
    options = parser.parse_args()
    if options.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    modes = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        sys.stdout.write("\x1b[?2004h")
        FakeCli(options).run()
    finally:
        sys.stdout.write("\x1b[?2004l")
        sys.stdout.flush()
        termios.tcsetattr(0, termios.TCSANOW, modes)


if __name__ == "__main__":
    main()
