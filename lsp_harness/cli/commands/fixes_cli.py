"""`lsp-harness fixes`: the error cache of a project, which has the fixes that the user accepted."""

from pathlib import Path

import cyclopts

from lsp_harness.cli.composition import find_project_root
from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.project_folder import Folder
from lsp_harness.errors import UsageError
from lsp_harness.knowledge.learned.learned_fixes import LearnedFix, LearnedFixes
from lsp_harness.text.wording import format_count

app = cyclopts.App(name="fixes", help="List, share and forget the fixes that were learned in a project.")


@app.command(name="list")
def list_fixes(folder: Folder = Path(), *, json: JsonOption = False) -> int:
    """List the learned fixes: the error, the old tokens and the new ones, and how often the fix worked."""
    fixes = _open(folder).usable()
    if json:
        print_json([_as_json(fix) for fix in fixes])
    elif not fixes:
        say("no fix has been learned here yet; fixes of the model are learned when you apply them")
    for fix in fixes if not json else ():
        tool, code, message = fix.template.signature
        say(f"{fix.template.id}  {tool} {code}: {message}{'  [shared]' if fix.is_shared else ''}")
        say(f"  {fix.template.title}")
        say(f"  tried {fix.tried}, passed {fix.passed}, failed {fix.failed}")
    return 0


@app.command
def clear(folder: Folder = Path()) -> int:
    """Forget all learned fixes of a project. Those in its file `.lsp-harness/fixes.jsonl` stay."""
    say(f"{format_count(_open(folder).clear(), 'learned fix', 'learned fixes')} forgotten")
    return 0


@app.command
def share(folder: Folder = Path()) -> int:
    """Write the fixes that worked again into `.lsp-harness/fixes.jsonl`, so that a repository can contain them."""
    learned = _open(folder)
    count = learned.share()
    say(f"{format_count(count, 'learned fix', 'learned fixes')} written to {learned.shared_file}")
    return 0


def _open(folder: Path) -> LearnedFixes:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r}")
    return LearnedFixes(find_project_root(folder.absolute() / "file"))


def _as_json(fix: LearnedFix) -> dict[str, object]:
    tool, code, message = fix.template.signature
    return {
        "id": fix.template.id,
        "language": fix.template.language,
        "tool": tool,
        "code": code,
        "message": message,
        "template": fix.template.title,
        "tried": fix.tried,
        "passed": fix.passed,
        "failed": fix.failed,
        "shared": fix.is_shared,
    }
