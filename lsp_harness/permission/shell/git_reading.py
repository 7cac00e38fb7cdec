"""The commands of git that only read, with the options that keep them so, and the options that write or run programs.

git starts programs that the settings of a repository name: a file monitor, filters, text converters, a pager. So a
command that only reads runs with `SAFE_SETTINGS`, and a repository that the user did not choose is none to read.
Source: the manual of git 2.39.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from lsp_harness.permission.shell.option_reading import Arguments, parse_options, read_arguments
from lsp_harness.permission.shell.readers import Reading
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord

OPTIONS_WITH_VALUE = ("-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix")
"""Options of git itself whose value may be the next word."""
PLAIN_OPTIONS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--no-lazy-fetch"}
)
"""Options of git itself that change nothing."""

DIFF = (
    "-puszBMCDRabwWX -O@ -U= -G= -S= -l= -M? -C? -B? --patch --no-patch --unified= --raw --patch-with-raw --minimal "
    "--patience --histogram --anchored= --diff-algorithm= --stat? --compact-summary --numstat --shortstat --dirstat? "
    "--cumulative --summary --patch-with-stat --name-only --name-status --color? --no-color "
    "--color-moved? --no-color-moved --word-diff? --word-diff-regex= --color-words? --no-renames --rename-empty "
    "--check --full-index --binary --abbrev? --break-rewrites? --find-renames? --find-copies? --find-copies-harder "
    "--irreversible-delete --diff-filter= --pickaxe-all --pickaxe-regex --relative? --text --ignore-cr-at-eol "
    "--ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context= "
    "--function-context --exit-code --quiet --no-ext-diff --no-textconv --src-prefix= "
    "--dst-prefix= --no-prefix --line-prefix= --ita-invisible-in-index --merge-base --cached --staged "
    "--indent-heuristic "
    "--cc -c -m --combined-all-paths --no-relative --default-prefix -z"
)
LOG = (
    "-# -n= --follow --no-decorate --decorate? --decorate-refs= --decorate-refs-exclude= --source "
    "--log-size --max-count= "
    "--skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep "
    "-i -E -F -P -q "
    "--regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --merges --no-merges "
    "--min-parents= --max-parents= --first-parent --not --all --branches? --tags? --remotes? --glob= --exclude= "
    "--reflog --single-worktree --cherry-mark --cherry-pick --cherry --left-only --right-only "
    "--walk-reflogs -g --merge "
    "--boundary --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path? "
    "--date-order "
    "--author-date-order --topo-order --reverse --no-walk? --do-walk --pretty? --format= --abbrev-commit "
    "--no-abbrev-commit --oneline --encoding= --expand-tabs? --no-expand-tabs --notes? --no-notes --relative-date "
    "--date= --parents --children --left-right --graph --no-graph --show-linear-break? --show-pulls -t -L= --count "
    "--objects --disk-usage --timestamp --header --no-commit-header --remove-empty --summary --mailmap --no-mailmap"
)
READING: Mapping[str, str] = {
    "status": "-sbvuz -u? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? "
    "--ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames",
    "log": f"{LOG} {DIFF}",
    "whatchanged": f"{LOG} {DIFF}",
    "show": f"{LOG} {DIFF}",
    "diff": DIFF,
    "diff-tree": f"{DIFF} -r -t --root --stdin --pretty? --no-commit-id --always",
    "diff-index": DIFF,
    "diff-files": f"{DIFF} --base --ours --theirs",
    "range-diff": f"{DIFF} --creation-factor= --no-dual-color --left-only --right-only --notes?",
    "blame": "-bltfnsepwc -M? -C? -L= -h --root --show-stats --line-porcelain --porcelain --incremental --reverse "
    "--first-parent --since= --date= --progress --no-progress --ignore-rev= --color-lines --color-by-age --abbrev= "
    "--show-name --show-number --show-email -M? -C?",
    "annotate": "-bltfnsepw -L=",
    "shortlog": f"{LOG} -nsec -w? --numbered --summary --email --committer --group=",
    "describe": "--dirty? --broken? --all --tags --contains --abbrev? --candidates= --exact-match --debug --long "
    "--match= --exclude= --always --first-parent",
    "rev-parse": "-q --verify --quiet --abbrev-ref? --short? --symbolic --symbolic-full-name --show-toplevel "
    "--show-cdup --show-prefix --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree "
    "--is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --all "
    "--branches? --tags? --remotes? --git-path= --path-format= --revs-only --no-revs --flags --no-flags --default= "
    "--since= --until= --show-object-format?",
    "rev-list": LOG,
    "ls-files": "-ctvdmoisukzf --cached --deleted --modified --others --ignored --stage --unmerged --killed "
    "--directory --no-empty-directory --eol -x= -X@ --exclude= --exclude-from@ --exclude-standard --error-unmatch "
    "--full-name --abbrev? --debug --deduplicate --format= --sparse",
    "ls-tree": "-drtlz --long --name-only --name-status --object-only --abbrev? --full-name --full-tree --format=",
    "cat-file": "-tsep --allow-unknown-type --batch? --batch-check? --batch-all-objects --unordered --buffer",
    "name-rev": "--tags --refs= --exclude= --all --name-only --no-undefined --always",
    "merge-base": "-a --all --octopus --independent --is-ancestor --fork-point",
    "grep": "-aIirwvEGFPnlLzochqpWHR -A= -B= -C= -e= -f@ -m= -# --cached "
    "--exclude-standard --text --ignore-case --max-depth= --recursive --no-recursive "
    "--word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings "
    "--line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count "
    "--color? --no-color --break --heading --show-function --context= --after-context= --before-context= "
    "--function-context --max-count= --threads= --and --or --not --all-match --quiet",
    "for-each-ref": "-spzt --count= --sort= --format= --points-at= --merged? --no-merged? --contains? --no-contains? "
    "--ignore-case --exclude= --color?",
    "count-objects": "-vH --verbose --human-readable",
    "check-ignore": "-qvnz --quiet --verbose --stdin --non-matching --no-index",
    "check-attr": "-az --all --cached --stdin --source=",
    "check-mailmap": "--stdin",
    "check-ref-format": "--branch --normalize --allow-onelevel --refspec-pattern",
    "show-ref": "-qds --head --heads --branches --tags --verify --dereference --hash? --abbrev? --quiet --exists",
    "show-branch": "-ar --all --remotes --current --topo-order --date-order --sparse --more= --list --no-name",
    "cherry": "-v --abbrev?",
    "version": "--build-options",
    "stripspace": "-sc",
    "verify-pack": "-vs --verbose --stat-only",
    "branch": "-avqrvl --all --remotes --list --verbose --show-current --no-color --color? --column? --no-column "
    "--sort= --format= --points-at= --contains? --no-contains? --merged? --no-merged? --abbrev= --no-abbrev "
    "--ignore-case",
    "tag": "-l -n? --list --no-color --color? --column? --no-column --sort= --format= --points-at= --contains? "
    "--no-contains? --merged? --no-merged? --ignore-case",
    "symbolic-ref": "-q --quiet --short --recurse",
}
"""Subcommand of git that only reads → the options with which it does (see `parse_options`)."""
NO_OPERANDS_UNLESS: Mapping[str, tuple[str, ...]] = {
    "branch": ("--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"),
    "tag": ("--list", "-l", "-n", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"),
}
"""Subcommand that makes something from its operands, unless one of these options is there."""
LISTS: Mapping[str, re.Pattern[str]] = {
    "remote": re.compile(r"|-v|--verbose|get-url [^-]\S*"),
    "stash": re.compile(r"list|show(?: -p| --stat| --name-only)?(?: stash@\{\d+\})?"),
    "config": re.compile(
        r"(?:(?:--get|--get-all|get) )?(?!\S*(?:token|header|pass|secret|credential|cookie))[a-z]+\.[\w.-]+",
        re.IGNORECASE,
    ),
    "reflog": re.compile(
        r"(?!expire|delete|exists|drop|write)(?:show)?(?:(?:^| )(?:-\d+|-n ?\d+))?(?:(?:^| )[^-]\S*)?"
    ),
    "worktree": re.compile(r"list(?: --porcelain)?(?: -v)?"),
    "submodule": re.compile(r"|status"),
    "bisect": re.compile(r"log"),
    "notes": re.compile(r"list|show(?: [^-]\S*)?"),
    "sparse-checkout": re.compile(r"list"),
    "bundle": re.compile(r"(?:verify|list-heads) [^-]\S*"),
    "help": re.compile(r"(?:-a|-g)?"),
}
"""Subcommand of git → the arguments with which it only lists."""
READS_OBJECTS = frozenset(
    [
        "log",
        "whatchanged",
        "show",
        "diff",
        "diff-tree",
        "diff-index",
        "diff-files",
        "range-diff",
        "blame",
        "annotate",
        "grep",
        "cat-file",
        "stash",
        # a setting may name another file with attributes, and words of it are printed
        "check-attr",
    ]
)
"""Subcommands that print the contents of files."""
NAME_OPTIONS = frozenset(
    {"--stat", "--shortstat", "--numstat", "--dirstat", "--summary", "--name-only", "--name-status", "--raw", "--quiet"}
    | {"-s", "--no-patch", "--compact-summary"}
)
"""Options with which only the names of changed files are printed, and numbers about them."""
PLAIN_DIFF_OPTIONS = frozenset(
    {"-M", "-C", "-B", "-D", "-R", "-a", "-b", "-w", "-z", "-r", "-t", "-l", "-S", "-G", "--cached", "--staged"}
    | {"--merge-base", "--diff-filter", "--find-renames", "--find-copies", "--no-renames", "--relative", "--root"}
    | {"--no-relative", "--abbrev", "--full-index", "--no-ext-diff", "--no-textconv", "--color", "--no-color"}
    | {"--ignore-space-change", "--ignore-all-space", "--ignore-blank-lines", "--ignore-space-at-eol", "--text"}
    | {"--minimal", "--patience", "--histogram", "--diff-algorithm", "--exit-code", "--no-commit-id", "--always"}
    | {"--pickaxe-all", "--pickaxe-regex", "--stdin", "--cumulative", "--break-rewrites", "--find-copies-harder"}
)
"""Options of differences that do not print the contents of files by themselves."""
WORK_TREE_READERS = frozenset({"status", "diff", "diff-files", "diff-index", "describe", "submodule"})
"""Subcommands that look at the files of submodules, with the settings of these."""
COMMANDS = frozenset(
    {"add", "am", "annotate", "apply", "archive", "backfill", "bisect", "blame", "branch", "bugreport"}
    | {"bundle", "cat-file", "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "checkout"}
    | {"checkout-index", "cherry", "cherry-pick", "clean", "clone", "column", "commit", "commit-graph"}
    | {"commit-tree", "config", "count-objects", "credential", "describe", "diagnose", "diff", "diff-files"}
    | {"diff-index", "diff-tree", "difftool", "fast-export", "fast-import", "fetch", "fetch-pack"}
    | {"filter-branch", "fmt-merge-msg", "for-each-ref", "for-each-repo", "format-patch", "fsck", "gc"}
    | {"get-tar-commit-id", "grep", "hash-object", "help", "hook", "index-pack", "init", "init-db"}
    | {"interpret-trailers", "log", "ls-files", "ls-remote", "ls-tree", "mailinfo", "mailsplit", "maintenance"}
    | {"merge", "merge-base", "merge-file", "merge-index", "merge-tree", "mergetool", "mktag", "mktree"}
    | {"multi-pack-index", "mv", "name-rev", "notes", "pack-objects", "pack-redundant", "pack-refs"}
    | {"patch-id", "prune", "prune-packed", "pull", "push", "range-diff", "read-tree", "rebase"}
    | {"receive-pack", "reflog", "remote", "repack", "replace", "request-pull", "rerere", "reset", "restore"}
    | {"rev-list", "rev-parse", "revert", "rm", "send-pack", "shortlog", "show", "show-branch", "show-index"}
    | {"show-ref", "sparse-checkout", "stage", "stash", "status", "stripspace", "submodule", "subtree"}
    | {"switch", "symbolic-ref", "tag", "unpack-file", "unpack-objects", "update-index", "update-ref"}
    | {"update-server-info", "upload-archive", "upload-pack", "var", "verify-commit", "verify-pack"}
    | {"verify-tag", "version", "whatchanged", "worktree", "write-tree", "send-email", "daemon", "instaweb"}
    | {"gui", "citool", "lfs", "flow"}
)
"""All subcommands. Another word is an alias or a program that nobody knows."""
PROGRAM_OPTIONS: Mapping[str, re.Pattern[str]] = {
    "grep": re.compile(r"-[a-zA-Z0-9]*O|--open-files-in-pager"),
    "clone": re.compile(r"-[a-zA-Z]*[uc]|--upload-pack|--config|--template"),
    "init": re.compile(r"--template"),
    "init-db": re.compile(r"--template"),
    "rebase": re.compile(r"-[a-zA-Z]*x|--exec"),
    "archive": re.compile(r"--exec|--remote"),
    "submodule": re.compile(r"--upload-pack"),
    "credential": re.compile(r""),
    "interpret-trailers": re.compile(r"--trailer"),
    "verify-commit": re.compile(r""),
    "verify-tag": re.compile(r""),
    "merge-index": re.compile(r""),
    "upload-pack": re.compile(r""),
    "receive-pack": re.compile(r""),
    "upload-archive": re.compile(r""),
}
"""Subcommand → options that name a program or a setting with one. An empty pattern matches every argument."""
ANY_PROGRAM_OPTIONS = re.compile(
    r"--upload-pack|--receive-pack|--exec$|--exec=|--ext-diff|--textconv|--open-files-in-pager|--show-signature"
)
"""Matches options of any subcommand that start a program, also if they are shortened."""
OTHER_REPOSITORY = re.compile(r"-C|--git-dir|--work-tree|--namespace|--super-prefix")


def split_git(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the subcommand of git and its arguments. The subcommand is empty if it cannot be told."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        option = arguments[position]
        if option in OPTIONS_WITH_VALUE:
            position += 2
        elif option in PLAIN_OPTIONS or "=" in option:
            position += 1
        else:
            return "", list(arguments)
    return (arguments[position], list(arguments[position + 1 :])) if position < len(arguments) else ("", [])


def judge_git(words: Sequence[ShellWord]) -> Reading:
    """Return what a command of git reads, or why it does not only read. `words` are its arguments."""
    texts = [word.text for word in words]
    if any(UNKNOWN in text for text in texts):
        return Reading(problem="an argument is not known")
    position = 0
    while position < len(texts) and texts[position] in PLAIN_OPTIONS:
        position += 1
    if position < len(texts) and OTHER_REPOSITORY.match(texts[position]):
        return Reading(problem="the repository of another folder may name programs")
    if position >= len(texts) or texts[position].startswith("-"):
        return Reading(problem="" if texts in (["--version"], ["--help"], ["-v"], ["-h"]) else "an option of git")
    subcommand, rest = texts[position], words[position + 1 :]
    if subcommand in LISTS:
        line = " ".join(texts[position + 1 :])
        if not LISTS[subcommand].fullmatch(line) or not all(word.is_one for word in rest):
            return Reading(problem=f"git {subcommand} may change something")
        shows = subcommand == "stash" and line.startswith("show")
        is_work_tree = subcommand in WORK_TREE_READERS
        return Reading(reads_objects=shows, reads_history=shows, reads_submodules=is_work_tree)
    if subcommand not in READING:
        return Reading(problem=f"git {subcommand} is not known to only read")
    arguments = read_arguments(parse_options(READING[subcommand]), rest)
    if arguments.problem:
        return Reading(problem=arguments.problem)
    operands = arguments.operands
    needed = NO_OPERANDS_UNLESS.get(subcommand)
    if needed and operands and not arguments.has(*needed):
        return Reading(problem=f"git {subcommand} may make {operands[0].display}")
    if subcommand == "symbolic-ref" and (len(operands) > 1 or not all(word.is_one for word in operands)):
        return Reading(problem="it sets a reference")
    if any("%G" in value for name, value in arguments.options if name in ("--format", "--pretty")):
        return Reading(problem="a signature is checked by another program")
    prints_contents = _prints_contents(subcommand, arguments)
    # an operand is a revision or a path: as a path it is judged like any other
    return Reading(
        (*operands, *arguments.files),
        reads_objects=prints_contents,
        reads_history=prints_contents and _reads_history(subcommand, arguments),
        reads_submodules=subcommand in WORK_TREE_READERS,
    )


def _prints_contents(subcommand: str, arguments: Arguments) -> bool:
    """Return whether a command prints what stands in files, and not only their names or the messages of commits."""
    names = {name for name, _ in arguments.options if not re.fullmatch(r"-\d+", name)}
    if subcommand in ("log", "whatchanged"):
        # a number of options ask for the contents, without a word of it in their names
        return not names <= _log_options() | NAME_OPTIONS | PLAIN_DIFF_OPTIONS
    if subcommand in ("diff", "diff-tree", "diff-index", "diff-files") and names & NAME_OPTIONS:
        return not names <= NAME_OPTIONS | PLAIN_DIFF_OPTIONS
    if subcommand == "status":
        return arguments.has("-v", "--verbose")
    if subcommand in ("for-each-ref", "branch", "tag"):
        return any(re.search(r"%\(\*?raw", value) for value in arguments.values("--format"))
    return subcommand in READS_OBJECTS


@cache
def _log_options() -> frozenset[str]:
    """Return the options of `git log` that print no contents of files."""
    options = parse_options(LOG)
    return frozenset({*(f"-{letter}" for letter in options.short), *options.long}) - {"-L"}


def _reads_history(subcommand: str, arguments: Arguments) -> bool:
    """Return whether a command that prints contents prints those of commits, and not only of the present files."""
    if subcommand in ("blame", "annotate", "diff-files", "status", "check-attr"):
        # they print lines of files that their words name, or of the index
        return False
    if subcommand == "grep":
        return len(arguments.operands) > (0 if arguments.has("-e", "-f") else 1)
    if subcommand == "diff":
        return bool(arguments.operands) or arguments.has("--cached", "--staged", "--merge-base")
    return True
