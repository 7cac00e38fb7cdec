"""Rules about files hold for each way to name a file, and for no file that only looks alike.

A line of the data is `rules | mode | call | decision`. The rules are separated by `; `, each after its decision, or
`none`. A call is a shell command, in which ⏎ is the end of a line, or `@tool path`. `ask/deny` means that both are
right: it is not allowed.
"""

from pathlib import Path
from typing import cast

import pytest

from lsp_harness.permission.action import Action, ActionKind
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.rules import Rule, RuleDecision, parse_rule
from lsp_harness.wire.permission_mode import PermissionMode
from tests.permission.gates import make_bash_action, policy

PAIRS = (Path(__file__).parent / "rule_pairs.txt").read_text(encoding="utf-8").splitlines()
KINDS: dict[str, ActionKind] = {"read": "read", "grep": "read", "glob": "read", "edit": "edit", "write": "edit"}
FILES = (
    *("README.md", "run.py", "run.sh", "run.js", "list.txt", "x.diff", ".gitignore", "env.txt", ".github/x.yml"),
    *("private/a.txt", "private/open.txt", "private/deep/b.txt", "private.txt", "privately/x.txt", "xprivate/x.txt"),
    *("src/a.txt", "src/private_notes.txt", "src/env.py", "src/lock.py", "src/api/a.txt", "srcs/a.txt", "xsrc/b.txt"),
    *("locked/a.txt", "unlocked/a.txt", "uv.lock", "src/deps.lock", "gitconfig/a.txt", "notes/x.txt", "other/run.py"),
    *("db/dump.sql", "db/dump.sqlite", "db/dump.sql.txt", "sql/readme.txt", "server.key", ".env", "src/.env.local"),
    *(".git/config", ".git/HEAD", ".git/hooks/x.sample", "../user/notes/diary.txt", "../user/notes2/x.txt"),
    *("tree/locked/new.txt", "tree/plain/new.txt"),
)
LINKS = {
    "link_a": "private/a.txt",
    "link_private": "private",
    "link_readme": "README.md",
    "link_locked": "locked",
    "link_sql": "db/dump.sql",
    "link_lock": "uv.lock",
    "src/up": "..",
    "src/out": "../locked",
    "to_git": ".git",
    "to_env": ".env",
    "to_notes": "../user/notes",
}
HARD_LINKS = {"hard_a": "private/a.txt", "hard_locked": "locked/a.txt", "hard_env": ".env"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pairs") / "project"
    root.mkdir()
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n", encoding="utf-8")
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    for name, target in HARD_LINKS.items():
        (root / name).hardlink_to(root / target)
    return root


def read_rules(text: str) -> tuple[Rule, ...]:
    found = list[Rule]()
    for piece in text.split("; ") if text != "none" else ():
        decision, rule = piece.split(" ", 1)
        found.append(parse_rule(rule, cast(RuleDecision, decision)))
    return tuple(found)


def read_call(root: Path, text: str) -> Action:
    if not text.startswith("@"):
        return make_bash_action(text.replace("⏎", "\n"))
    tool, name = text[1:].split(" ", 1)
    path = Path(name) if name.startswith("~") else root / name
    return Action(tool, KINDS[tool], {"path": name}, paths=(path,), call_id="c1", session_id="s1")


def test_the_list_has_enough_different_pairs() -> None:
    assert len(set(PAIRS)) == len(PAIRS) >= 200


RULES = sorted({line.split(" | ", 1)[0] for line in PAIRS})


@pytest.mark.parametrize("texts", RULES)
def test_a_rule_holds(root: Path, monkeypatch: pytest.MonkeyPatch, texts: str) -> None:
    home = root.parent / "user"
    monkeypatch.setenv("HOME", str(home))
    wrong = list[str]()
    for line in PAIRS:
        rule, mode, rest = line.replace("{root}", str(root)).replace("{home}", str(home)).split(" | ", 2)
        if line.split(" | ", 1)[0] != texts:
            continue
        call, expected = rest.rsplit(" | ", 1)
        gate = Gate(policy(root, cast(PermissionMode, mode), read_rules(rule)))
        found = gate.explain(read_call(root, call))
        verdict = found.decision.verdict if found.decision else "ask"
        if verdict not in expected.split("/"):
            reason = found.decision.reason if found.decision else found.question
            wrong.append(f"{line}: {verdict}, because {reason}")
    assert not wrong, "\n".join(wrong)
