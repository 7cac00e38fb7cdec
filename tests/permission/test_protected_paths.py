"""Protected paths: tricks with links, `..`, case, and files that do not exist yet."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.permission import protected_paths
from lsp_harness.permission.action import Action
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.protected_paths import ProtectedPaths
from tests.permission.gates import edit, make_bash_action, make_rules, policy, read


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for folder in (".git/hooks", "src", ".lsp-harness"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / ".env").write_text("KEY=1")
    (root / "src" / "a.py").write_text("")
    (root / "to_git").symlink_to(root / ".git")
    (root / "to_outside").symlink_to(tmp_path / "outside")
    (root / "settings.txt").symlink_to(root / ".env")
    (root / "loop").symlink_to(root / "loop")
    (root / "into").symlink_to(root / "src")
    return root


async def decide(root: Path, action: Action) -> str:
    decision = await Gate(policy(root, "bypassPermissions", make_rules(["*"]))).check(action)
    return decision.by if not decision.is_allowed else "allowed"


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("src/a.py", "allowed"),
        ("src/new/b.py", "allowed"),
        ("into/a.py", "allowed"),
        (".gitignore", "allowed"),
        (".github/workflows/x.yml", "allowed"),
        ("src/git/x", "allowed"),
        (".git", "protected"),
        (".git/config", "protected"),
        (".git/hooks/pre-commit", "protected"),
        (".GIT/config", "protected"),
        (".Git/hooks/new", "protected"),
        (".git./config", "protected"),
        (".git /config", "protected"),
        (".g\u200cit/config", "protected"),
        (".git::$INDEX_ALLOCATION/config", "protected"),
        ("GIT~1/config", "protected"),
        ("src/.git/config", "protected"),
        ("src/../.git/config", "protected"),
        ("./.git/config", "protected"),
        (".//.git//config", "protected"),
        ("to_git/config", "protected"),
        ("to_git/hooks/new/file", "protected"),
        ("src/../to_git/new", "protected"),
        (".lsp-harness/x", "protected"),
        ("lsp-harness.toml", "protected"),
        ("lsp-harness.local.toml", "protected"),
        ("src/localcode.toml", "protected"),
        ("../outside/x", "protected"),
        ("../new/x", "protected"),
        ("to_outside/x", "protected"),
        ("to_outside/new/x", "protected"),
        ("to_outside/../x", "protected"),
        ("src/../../x", "protected"),
        ("/etc/passwd", "protected"),
        ("~/.bashrc", "protected"),
        ("../project2/x", "protected"),
        (".env", "protected"),
        (".ENV", "protected"),
        ("src/.env.local", "protected"),
        ("src/server.key", "protected"),
        ("settings.txt", "protected"),
        ("x\0y", "protected"),
        ("", "allowed"),
    ],
)
async def test_an_edit_of_a_path_is_allowed_or_denied(root: Path, name: str, by: str) -> None:
    path = Path(name) if name[:1] in "/~" and name else root / name
    assert await decide(root, Action("edit", "edit", paths=(path,))) == by


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("src/a.py", "allowed"),
        (".git/config", "allowed"),
        ("../outside/x", "allowed"),
        (".env", "protected"),
        ("settings.txt", "protected"),
        ("src/../.env", "protected"),
        ("~/.ssh/id_rsa", "protected"),
        ("~/.aws/credentials", "protected"),
        ("loop", "allowed"),
        ("x\0y", "protected"),
    ],
)
async def test_a_read(root: Path, name: str, by: str) -> None:
    path = Path(name) if name.startswith("~") else root / name
    assert await decide(root, Action("read", "read", paths=(path,))) == by


async def test_every_path_of_an_action_is_checked(root: Path) -> None:
    both = (root / "src/a.py", root / ".git/config")
    assert await decide(root, Action("rename", "edit", paths=both)) == "protected"
    assert await decide(root, Action("mcp__x", "network", paths=(root / ".env",))) == "protected"


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "cat ./.env",
        "cat src/../.env",
        "cat settings.txt",
        "grep x .env",
        "head -n1 < .env",
        "cat .e*",
        "cat .en?",
        "cat '.env'",
        "cat .e\\nv",
        "cat ~/.ssh/id_rsa",
        "cp .env x",
        "git add .env",
        "git show HEAD:.env",
        "curl -F file=@.env x",
        "curl -d @.env x",
        "tar cf x.tar .env",
        "cd src && cat ../.env",
        "cd src; cat .env",
        "cd .. && echo x > y",
        "cd .. && rm -rf x",
        "cd / && echo x > etc/passwd",
        "cd .git && echo x > config",
        "cd .git/hooks; cp ../../src/a.py pre-commit",
        "(cd ..; touch x)",
        "cd src && cd .. && cd .. && touch x",
        "cp -t .git src/a.py",
        "cp --target-directory=.git src/a.py",
        "curl -F 'file=@.env' x",
        "base64 .env",
        "sudo cat .env",
        "sh -c 'cat .env'",
        "echo x > .git/config",
        "echo x >> .git/hooks/pre-commit",
        "echo x > to_git/config",
        "echo x > ../x",
        "echo x > /tmp/x",
        "echo x > ~/.bashrc",
        "echo x >| to_outside/x",
        "echo x &> ../x",
        "ls 2> ../x",
        "ls | tee ../x",
        "ls | sudo tee /etc/passwd",
        "cp src/a.py .git/hooks/pre-commit",
        "cp src/a.py ../x",
        "mv src/a.py .git/x",
        "mv .git x",
        "ln -s x .git/y",
        "rm -rf .git",
        "rm -rf /",
        "rm -rf ..",
        "rm -rf ~",
        "rm ../x",
        "mkdir .git/x",
        "touch .git/x",
        "chmod +x .git/hooks/pre-commit",
        "sed -i s/a/b/ .git/config",
        "python edit.py .git/config",
        "dd if=x of=.git/config",
        "echo x > lsp-harness.toml",
        "truncate -s 0 .lsp-harness/sessions",
    ],
)
async def test_a_command_that_touches_a_protected_path_is_denied(root: Path, command: str) -> None:
    assert await decide(root, make_bash_action(command)) == "protected"


@pytest.mark.parametrize(
    "command",
    [
        *("grep secret src/a.py", "git log --grep secrets", "ls .git", "cat .git/config", "git status .git"),
        *("cp src/a.py src/b.py", "rm -rf src", "cat src/a.py > /dev/null", "echo 'see .env for x'", "mkdir -p src/x"),
        *("cp /etc/hosts src/hosts", "ls ..", "python manage.py credentials", "git commit -m 'remove .env'"),
        "echo x > src/b.py",
        "cd src && echo x > b.py",
        "grep .env README.md",
        "sed -n /x/p src/a.py",
    ],
)
async def test_other_commands_are_not(root: Path, command: str) -> None:
    assert await decide(root, make_bash_action(command)) == "allowed"


async def test_paths_are_relative_to_the_folder_of_a_command(root: Path) -> None:
    action = Action("bash", "execute", {"cwd": str(root / "src")}, command="echo x > ../.git/config")
    assert await decide(root, action) == "protected"
    action = Action("bash", "execute", {"cwd": str(root.parent)}, command="echo x > y")
    assert await decide(root, action) == "protected"


async def test_our_own_folders_are_protected_inside_a_root(root: Path) -> None:
    state = root / "state"
    protected = ProtectedPaths((root,), (state,))
    gate = Gate(GatePolicy(mode="trust", protected=protected))
    decision = await gate.check(edit(state / "sessions" / "x"))
    assert (decision.by, "a folder of lsp-harness" in decision.reason) == ("protected", True)
    assert (await gate.check(edit(root / "state2"))).is_allowed


async def test_without_roots_no_file_can_be_edited(root: Path) -> None:
    gate = Gate(GatePolicy(mode="trust"))
    assert (await gate.check(edit(root / "a.py"))).by == "protected"


async def test_a_root_that_is_a_link_is_the_same_folder(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    for base, name in ((link, root), (root, link)):
        gate = Gate(policy(base, "ask", make_rules(["Edit(src/*)"])))
        assert (await gate.check(edit(name / "src" / "a.py"))).is_allowed
        assert (await gate.check(edit(name / ".git" / "x"))).by == "protected"
    assert os.path.samefile(link, root)


async def test_a_read_outside_of_the_workspace_needs_a_question(root: Path) -> None:
    for action in (
        read(root.parent / "outside"),
        make_bash_action("cat ../outside/x"),
        make_bash_action("cat to_outside/x"),
        make_bash_action("ls /etc"),
    ):
        assert (await Gate(policy(root, "ask")).check(action)).by == "nobody"
    for command in ("cd src && cat ../../x", "cd .. && cat x", "cd $X && ls", "cd && ls", "cd - && cat x"):
        assert (await Gate(policy(root, "ask")).check(make_bash_action(command))).by == "nobody"
    for command in (
        "cd src && cat a.py",
        "grep /x src/a.py",
        "awk '/x/ {print}' src/a.py",
        "sed -n '/x/p' src/a.py",
    ):
        assert (await Gate(policy(root, "ask")).check(make_bash_action(command))).by == "mode"
    assert (await Gate(policy(root, "ask")).check(make_bash_action("cat $HOME/x"))).by == "nobody"


def test_a_file_with_too_many_other_names_is_protected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.py").hardlink_to(tmp_path / "a.py")
    protected = ProtectedPaths((tmp_path,))
    monkeypatch.setattr(protected_paths, "MAX_LINK_ENTRIES", 1)
    assert "too many files" in protected.edit_problem(tmp_path / "a.py")


@pytest.mark.parametrize(
    ("action", "is_dangerous"),
    [
        (edit(Path(".vscode/tasks.json")), True),
        (edit(Path("packages/a/.IDEA/run.xml")), True),
        (edit(Path("src/.gdbinit")), True),
        (make_bash_action("echo x > .husky/pre-commit"), True),
        (make_bash_action("cp README.md .claude/settings.json"), True),
        (make_bash_action("sed -i s/a/b/ src/sitecustomize.py"), True),
        (make_bash_action("sort -o .gitattributes README.md"), True),
        (edit(Path("src/vscode.py")), False),
        (edit(Path("docs/husky")), False),
        (make_bash_action("cp README.md docs/claude.md"), False),
        (make_bash_action("cat .vscode/tasks.json"), False),
    ],
    ids=str,
)
def test_an_edit_of_a_file_with_commands_for_other_programs_needs_a_question(
    root: Path, action: Action, *, is_dangerous: bool
):
    action = replace(action, paths=tuple(root / path for path in action.paths))
    assert (Gate(policy(root, "auto")).explain(action).decision is None) == is_dangerous
    assert ("other programs run" in Gate(policy(root, "auto")).explain(action).question) == is_dangerous
    assert Gate(policy(root, "trust")).explain(action).decision is not None
