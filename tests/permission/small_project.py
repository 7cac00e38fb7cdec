"""A small project with a history in git, for commands that look at it."""

import json
import os
import subprocess
from pathlib import Path

PERSON = {
    **{f"GIT_{role}_NAME": "Ann" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ann@example.com" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_DATE": "2024-05-01T12:00:00Z" for role in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}

USERS = [
    {"name": "Ann", "age": 31, "email": "ann@example.com", "active": True},
    {"name": "Ben", "age": 27, "email": "ben@example.org", "active": False},
]
LOG = [
    "2024-05-01 INFO the server starts",
    "2024-05-01 WARN the folder is empty",
    "2024-05-02 ERROR no such user",
    "2024-05-02 INFO the server stops",
]
FILES = {
    "src/app.py": "import os\n\nfrom src import util\n\n\ndef main() -> None:\n    # TODO: read the users\n"
    "    print(util.double(2), os.name)\n",
    "src/util.py": "def double(number: int) -> int:\n    return 2 * number\n",
    "src/api/routes.py": 'import json\n\n\ndef get_users() -> str:\n    return json.dumps({"post": []})\n',
    "tests/test_app.py": "from src.app import main\n\n\ndef test_main() -> None:\n    main()\n",
    "README.md": "# A small project\n\nIt has some users.\n",
    "package.json": json.dumps({"name": "small", "version": "0.1.0", "scripts": {"test": "node test.js"}}, indent=2)
    + "\n",
    "pyproject.toml": '[project]\nname = "small"\nversion = "0.1.0"\n'
    + "\n[tool.pytest.ini_options]\ntestpaths = []\n",
    "Makefile": "# What to run\nPYTHON = python3\n\ntest:\n\t$(PYTHON) -m pytest\n\nlint:\n\truff check\n",
    "docs/guide.md": "# Guide\n\nRead the routes first.\n",
    "data/users.json": json.dumps(USERS, indent=2) + "\n",
    "data/log.txt": "\n".join(LOG) + "\n",
    ".gitignore": "build/\n*.pyc\n",
    "LICENSE": "Do what you like.\n",
}


def run_git(root: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), **PERSON}
    subprocess.run(["git", *arguments], cwd=root, env=environment, check=True, capture_output=True)


def make_two_files(root: Path) -> Path:
    """Write a file and one in a folder, and return the root."""
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_text("x\n")
    (root / "sub" / "b.py").write_text("x\n")
    return root


def make_project(root: Path) -> Path:
    """Write the files, with four commits, a tag and a branch, and return the folder."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    run_git(root, "init", "-q", "-b", "main")
    for number, names in enumerate((["README.md", "LICENSE"], ["src", "tests"], ["."])):
        run_git(root, "add", *names)
        run_git(root, "commit", "-q", "-m", f"Add part {number}")
    run_git(root, "tag", "v0.1.0")
    run_git(root, "branch", "feature")
    (root / "README.md").write_text(FILES["README.md"] + "\nRead the guide.\n", encoding="utf-8")
    run_git(root, "commit", "-q", "-a", "-m", "Name the guide")
    return root
