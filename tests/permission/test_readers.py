"""Programs that only read: their options as the programs read them, and the files that they name."""

import os
from pathlib import Path

import pytest

from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.permission_gate import PermissionGate as Gate
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.shell.option_reading import matches_option, parse_options, read_arguments
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, literal
from tests.permission.gates import decide, make_bash_action, make_rules, policy
from tests.permission.small_project import make_two_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_two_files(tmp_path / "project")


OPTIONS = parse_options("-ab -n= -f@ -U? -# --all --lines= --file@ --color? ~ps")


@pytest.mark.parametrize(
    ("words", "options", "operands"),
    [
        (["-a", "x"], [("-a", "")], ["x"]),
        (["-ab", "x"], [("-a", ""), ("-b", "")], ["x"]),
        (["-an5", "x"], [("-a", ""), ("-n", "5")], ["x"]),
        (["-n", "-a", "x"], [("-n", "-a")], ["x"]),
        (["x", "-a"], [("-a", "")], ["x"]),
        (["--", "-a"], [], ["-a"]),
        (["--lines=5"], [("--lines", "5")], []),
        (["--lines", "5"], [("--lines", "5")], []),
        (["--color", "x"], [("--color", "")], ["x"]),
        (["-U3"], [("-U", "3")], []),
        (["-U", "3"], [("-U", "")], ["3"]),
        (["-12"], [("-12", "")], []),
        (["-ps"], [("-ps", "")], []),
        (["-"], [], ["-"]),
    ],
)
def test_options_are_parsed_as_by_the_programs(
    words: list[str], options: list[tuple[str, str]], operands: list[str]
) -> None:
    found = read_arguments(OPTIONS, [literal(word) for word in words])
    assert not found.problem
    assert (found.options, [word.text for word in found.operands]) == (options, operands)


@pytest.mark.parametrize(
    "words", [["-c"], ["-ac"], ["--li=5"], ["--linesx"], ["--all=1"], ["-n"], ["--nothing"], ["-ps=1"]]
)
def test_an_option_that_is_not_in_the_list_is_a_problem(words: list[str]) -> None:
    assert read_arguments(OPTIONS, [literal(word) for word in words]).problem


def test_a_wildcard_may_become_an_option_and_after_two_hyphens_not() -> None:
    wildcard = ShellWord("*", UNKNOWN)
    assert "may become an option" in read_arguments(OPTIONS, [wildcard]).problem
    assert not read_arguments(OPTIONS, [literal("--"), wildcard]).problem
    assert not read_arguments(OPTIONS, [ShellWord("./*", "./" + UNKNOWN)]).problem


def test_the_value_of_a_file_option_is_a_file() -> None:
    found = read_arguments(OPTIONS, [literal("-f"), literal("x"), literal("--file=y")])
    assert [word.text for word in found.files] == ["x", "y"]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("--force|-f", "--force", True),
        ("--force|-f", "--forc", True),
        ("--force|-f", "--fo=x", True),
        ("--force|-f", "--forcex", True),
        ("--force|-f", "--", False),
        ("--force|-f", "-f", True),
        ("--force|-f", "--foo", False),
        ("--(to-command|checkpoint-action)", "--to-c", True),
    ],
)
def test_shortened_options_are_the_options(pattern: str, text: str, expected: bool) -> None:
    assert matches_option(pattern, text) is expected


READ = [
    *("find . -name '*.py' | xargs wc -l", "find . -name '*.py' -exec head -1 {} +", "cat $(find sub -name b.py)"),
    *("for f in *.py sub/*.py; do wc -l $f; done", "f=a.py; cat $f", "diff <(cat a.py) <(cat sub/b.py)", "echo $HOME"),
    *("git ls-files | grep py | xargs wc -l", 'echo "$(git rev-parse HEAD)"', "cat {a.py,sub/b.py}"),
    *("cat a.py", "head -n 5 a.py", "head -5 a.py", "grep -rn x sub", "grep --include=*.py -r x .", "sed -n 1,5p a.py"),
    *("awk '$3 > 100 {print $1}' a.py", "jq '.a.b' a.json", "find . -name '*.py' -newer a.py", "git log --oneline -5"),
    *(
        "git diff HEAD~1 -- a.py",
        "git grep -n x",
        "git branch -a",
        "ls -la | sort -k2 | uniq -c",
        "cat *",
        "wc -l *.py",
    ),
    *(
        "cd sub && ls",
        "diff a.py sub/b.py",
        "tar tf a.tar",
        "date +%s",
        "pip list",
        "git show HEAD~1:a.py",
        "test -f a.py",
    ),
    *("find . -name x -exec grep -n y a.py ;",),
    *("[ -f a.py ] && ls", '[ "$(cat a.py)" = x ] || ls', "[ $# -gt 0 ] || ls", "[ $(wc -l < a.py) -gt 1 ] && ls"),
    *("[ $(ls | sort | wc -l) -gt 1 ] && ls", "[ $(ls | grep -c py) = 1 ] && ls"),
    *('for f in *; do [ -f "$f" ] && echo "$f"; done', "[ a == b ] || ls", "SECONDS=0; ls", "bash -o pipefail -c ls"),
]
PATHS_OF_OTHER_PLACES = [
    *("find . | xargs -I{} cat {}/../../x", "ls | timeout 5 cat $x", "find . | grep -o /x/y | xargs cat", "awk 1 $x"),
    *("find . | tail -c 11 | xargs cat", "find . | xargs -d. cat", "git ls-files --format=/x/y | xargs cat"),
    *("git diff --name-only --line-prefix=/x/ | xargs cat", "ls -d sub/../../* | xargs cat", "fd . .. | xargs cat"),
    *("f=a; f+=/../../x; cat $f", "awk 'BEGIN{print SYMTAB[\"x\"]}'", "tree -R -L 1", "git config --list", "cat $x"),
    *("find . | grep -h . ../x | xargs cat", "find . | sed s#^#/x/# | xargs cat", "cat $(echo ../x)", "f=$x; cat $f"),
]
"""Commands whose words are paths that nobody knows, although they look like paths of the workspace."""
EVALUATED = [
    *("RANDOM='a[$(./x)]'; ls", "for SECONDS in 'a[$(./x)]'; do ls; done", "read RANDOM < a.py", "OPTIND=$x; ls"),
    *("builtin test -v 'a[$(./x)]'", "command read 'a[$(./x)]' < a.py", "time [ -v 'a[$(./x)]' ]", "test $(cat a.py)"),
    *("[ $(cat a.py) ]", "read x < a.py; [ $x ]", 'read a b < a.py; test "$a" "$b"', "[ `head -1 a.py` -gt 1 ]"),
    *("[ $(cat a.py; ls | wc -l) -gt 1 ]", "[ $(cat a.py || ls | wc -l) -gt 1 ]", "[ $(grep -c x a.py b.py) -gt 1 ]"),
    *("y='a[$(./x)]'; read $y < a.py", "x=-v; y='a[$(./x)]'; [ $x \"$y\" ]", "for f in *; do [ -f $f ]; done"),
]
"""Commands in which bash takes a text for a name with a subscript, for arithmetic or for an operator."""
DENIED = [
    *PATHS_OF_OTHER_PLACES,
    *EVALUATED,
    *("uniq {a.py,x}", "xxd {a.py,x}", "git symbolic-ref {HEAD,refs/heads/x}", "git config {core.pager,a.b}"),
    *("cat ~+/.e''[n]v", "cat ~-/'a'.py", "head ~root/'x'"),
    *(r"read {\PATH,y} < a.py; ls", r"cat {\a.py,b}", r"for f in {\-a,b}; do ls $f; done", "a=x\\\ny; ls ${a}\\a"),
    *("x=PATH; read $x < a.py; ls", "read {PATH,y} < a.py; ls", "exec -a git-init git status", "POSIXLY_CORRECT=1; ls"),
    *("[ a | ./x ]; ls", "[ a & ./x ]; ls", "[ a > x ]; ls", "[ a < b ]; ls", "[ a && ./x ]; ls", "[ a\n./x ]; ls"),
    *(
        "env -i git status",
        "env - git log",
        "env -u GIT_CONFIG_COUNT git diff",
        "exec -c git status",
        "hostname -f",
        "bash -ic ls",
    ),
    *("x='-exec'; find . $x ./x \\;", "for x in -exec -ok; do find . $x ./x \\;; done"),
    *("awk 1/* a.py", "jq -n ./*", "find . -exec jq -n {} +", "find 1 -exec awk {} a.py \\;", "sed -es/a/*/ a.py"),
    *('for f in ./e*; do jq -n "$f"; done', "read P* < a.py; ls", "git symbolic-ref refs/heads/*", "git reflog e*"),
    *("find refs -type f | xargs git symbolic-ref", "find core.pager a.b | xargs git config", "find sub | xargs uniq"),
    # it runs `conftest.py`
    "pytest --version",
    *("bash -O dotglob -c 'cat *'", "bash -o posix -c ls", "jq -n '$#x\nENV'", "jq -n '\"x\" | modulemeta'"),
    *(
        "sed --expr='e x' a.py",
        "sed -i s/a/b/ a.py",
        "sed -n 1p *",
        "sort -o a.py a.py",
        "sort --ou=a.py a.py",
        "uniq a.py 5",
    ),
    *("git grep -nO./x y", "git -C sub status", "git branch new", "git tag v1", "git log --output=x", "git log --onel"),
    *(
        "git st",
        "git diff --ext-diff",
        "git log --format=%G?",
        "awk '{print > \"x\"}' a.py",
        "jq -n env",
        "jq -n '$ENV.A'",
    ),
    *("xxd a.py x", "xxd -r a.py", "date 0101", "hostname x", "printf -v PATH x", "find . -delete", "find . -fprint x"),
    *(
        "rg --pre ./x y",
        "file -C -m x",
        "tree -o x",
        "shuf -o x a.py",
        "env",
        "printenv",
        "echo $API_KEY",
        "ls $x",
        "ps e",
    ),
    *(
        "x=1",
        "# nothing",
        "[[ -f a.py ]]",
        "ls ${x:=y}",
        "x=${y:-`./x`}",
        "for PATH in x; do ls; done",
        "f() { ls; }; f",
    ),
    *("i=5; x='a[$(./x)]'; echo $((x))", "read x < a.py; [[ $x -eq 1 ]] && ls", "./ls", "sub/cat a.py"),
]


@pytest.mark.parametrize("command", READ)
def test_reading_needs_no_question(root: Path, command: str) -> None:
    assert decide(root, command) == "allow"


@pytest.mark.parametrize("command", DENIED)
def test_a_command_that_may_do_more_than_read_is_denied_in_the_mode_plan(root: Path, command: str) -> None:
    assert decide(root, command) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "git reset --har",
            "git push --forc origin main",
            "git clean --forc",
            "git rebase --ex=./x",
            "git clone -u ./x . y",
        ),
        *("git clone -c core.hooksPath=x . y", "git ls-remote --u=./x .", "git init --templ=x", "rsync --rs=./x a b"),
        *(
            "tar --to-com=./x -xf a.tar",
            "tar cf a.tar *",
            "x86_64 rm -rf a.py",
            "foo rm -rf a.py",
            "foo sh x",
            "git st",
        ),
        *("ln -s sub g && echo x > g/config", "sed --i s/a/b/ a.py", "sort --compress-p=./x a.py"),
        *(
            "ln -s /x g; > g/y",
            "for i in 1 2; do > g/x; ln -s /x g; done",
            "cp -s /x/y g; echo > g",
            "cp -rl sub g; ls g",
        ),
        *("jobs -x rm a.py", "y='a[$(rm x)]'; let y", "y='a[$(rm x)]'; unset $y", "y='a[$(rm x)]=1'; declare $y"),
        *("declare -i z; z=$(cat a.py)", "builtin let 'a[$(rm x)]'", "builtin printf -v 'a[$(rm x)]' y", "let i=j"),
        *("bash /dev/stdin < a.py", "echo ls | bash /dev/fd/0", "echo x | python3 /proc/self/fd/0", "node //dev/stdin"),
        *("python3 -X dev -c x", "python3 -mtimeit x", "node --loader ./x a.js", "perl -Mx a.pl", "gdb --args rm a.py"),
        *(
            "uv -q run rm -rf a.py",
            "pnpm --filter x exec rm a.py",
            "yarn workspace x exec rm a.py",
            "stack exec rm -rf x",
        ),
        *("tar --new-volume-script=./x -cf a.tar a.py", "tar --rmt-command=./x -cf a a.py", "tar -cf host:a.tar a.py"),
        *("git fetch ext::./x", "git clone 'ext::./x' y", "git remote add x ext::./x", "gcc -specs=x a.c"),
    ],
)
def test_a_dangerous_or_hidden_effect_needs_a_question_in_the_mode_auto(root: Path, command: str) -> None:
    assert decide(root, command, "auto") == "ask"


def test_a_search_that_may_read_secrets_asks_unless_a_sandbox_hides_them(root: Path) -> None:
    (root / "sub" / ".env").write_text("KEY=1\n")
    for command in ("grep -r KEY .", "grep -r KEY", "rg -uu KEY", "diff -r sub ."):
        assert decide(root, command, "ask") == "ask"
        assert decide(root, command) == "deny"
    assert decide(root, "rg KEY") == "deny"
    assert decide(root, "cat sub/.en[[:alpha:]]") == "deny"
    confined = GatePolicy(mode="plan", protected=ProtectedPaths((root,)), can_confine=lambda: True)
    found = Gate(confined).explain(make_bash_action("grep -r KEY .")).decision
    assert found is not None
    assert found.is_allowed
    assert found.only_reads


def test_names_of_which_other_words_become_are_no_known_paths(root: Path) -> None:
    assert decide(root, "find . | xargs cat") == "allow"
    (root / "sub" / "x y").write_text("x\n")
    assert decide(root, "find . | xargs cat") == "deny"
    assert decide(root, "cat $(find .)") == "deny"
    assert decide(root, "find . -exec cat {} +") == "allow"
    (root / "sub" / "out").symlink_to("/etc")
    assert decide(root, "find . -exec cat {} +") == "deny"


def test_a_link_that_is_moved_leads_elsewhere(root: Path) -> None:
    (root / "out").symlink_to("/x")
    for command in ("mv out g; echo x > g/y", "cp -a out g && echo x > g/y", "rsync -a . ../g; > g/out/y"):
        assert decide(root, command, "auto") != "allow"
    assert decide(root, "mv sub g; echo x > g/y", "auto") == "allow"


def test_a_copy_of_a_folder_changes_no_protected_file(root: Path) -> None:
    (root / "sub" / ".git").mkdir()
    (root / "sub" / ".git" / "config").write_text("x\n")
    (root / "config").write_text("x\n")
    for command in ("cp -r sub/. .", "rsync -a sub/ .", "cp -r sub lib"):
        assert decide(root, command, "auto") == "ask"
    for command in ("sed -i'.git/*' s/a/b/ config", "sed -i s/a/b/ /x/y"):
        assert decide(root, command, "trust") == "deny"


def test_a_relative_folder_in_the_path_has_programs_of_the_workspace(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"tools{os.pathsep}{os.environ['PATH']}")
    assert decide(root, "cd sub && ls") == "allow"
    (root / "sub" / "tools").mkdir()
    (root / "sub" / "tools" / "ls").write_text("x")
    (root / "sub" / "tools" / "ls").chmod(0o755)
    assert decide(root, "cd sub && ls") == "deny"
    assert decide(root, "ls") == "allow"


def test_the_target_of_a_copy_is_not_copied(root: Path) -> None:
    (root / "sub" / ".env").write_text("KEY=1\n")
    assert decide(root, "cp a.py sub/", "auto") == "allow"
    assert decide(root, "cp -r sub lib", "auto") == "ask"


def test_a_tilde_in_quotes_is_a_name(root: Path) -> None:
    (root / ".env").write_text("KEY=1\n")
    (root / "~").mkdir()
    (root / "~" / "x").symlink_to(root / ".env")
    for command in ("cat '~/x'", "cd '~' && cat x", "grep -f '~/x' a.py", "grep --file=~/x a.py"):
        assert decide(root, command, "trust") == "deny"


def test_wildcards_in_variables_are_those_of_the_shell(root: Path) -> None:
    (root / ".env").write_text("KEY=1\n")
    assert decide(root, "f='.e*'; cat $f", "trust") == "deny"
    assert decide(root, "f='.e*'; cat \"$f\"") == "allow"


def test_listed_names_become_options(root: Path) -> None:
    assert decide(root, "ls sub | xargs wc") == "allow"
    (root / "sub" / "--files0-from=x").write_text("x\n")
    for command in ("ls sub | xargs wc", "wc $(ls)", "git ls-files | xargs wc -l"):
        assert decide(root, command) == "deny"
    assert decide(root, "find . -type f | xargs wc") == "allow"


def test_a_hard_link_is_protected_like_its_file(root: Path) -> None:
    (root / ".env").write_text("KEY=1\n")
    (root / "plain.txt").hardlink_to(root / ".env")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("")
    (root / "settings.txt").hardlink_to(root / ".git" / "config")
    assert decide(root, "cat plain.txt", "trust") == "deny"
    assert decide(root, "echo x > settings.txt", "trust") == "deny"
    assert decide(root, "cat a.py", "trust") == "allow"


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("Read(private/*)", "cat private/x", "deny"),
        ("Read(private/*)", "cat ./private/../private/x", "deny"),
        ("Read(private/*)", "cd private && cat x", "deny"),
        ("Read(private/*)", "grep -r y private", "deny"),
        ("Read(private/*)", "grep -r y .", "deny"),
        ("Read(private/*)", "cat priv*/x", "deny"),
        ("Read(private/*)", "grep -f private/x a.py", "deny"),
        ("Read(private/*)", "cp private/x y", "deny"),
        ("Read(private/*)", "cat privately/x", "allow"),
        ("Read(private/*)", "ls private", "allow"),
        ("Read(private/*)", "python run.py", "ask"),
        ("Edit(locked/*)", "cat locked/x", "allow"),
        ("Edit(locked/*)", "touch locked/x", "deny"),
        ("Edit(locked/*)", "sort -o locked/x a.py", "deny"),
        ("Bash(git push *--force*)", "git push --forc", "deny"),
        ("Bash(rm *)", "foo rm a.py", "ask"),
        ("Bash(rm *)", "git rm a.py", "allow"),
    ],
)
def test_rules_are_about_files_and_not_about_words(root: Path, rule: str, command: str, expected: str) -> None:
    for folder in ("private", "privately", "locked"):
        (root / folder).mkdir()
        (root / folder / "x").write_text("y\n")
    found = Gate(policy(root, "auto", make_rules((), (), [rule]))).explain(make_bash_action(command)).decision
    assert (found.verdict if found else "ask") == expected


def test_a_rule_that_allows_a_program_wins_over_rules_about_unknown_files(root: Path) -> None:
    active = make_rules(["Bash(pytest *)"], (), ["Read(private/*)"])
    found = Gate(policy(root, "ask", active)).explain(make_bash_action("pytest -q")).decision
    assert found is not None
    assert found.is_allowed
