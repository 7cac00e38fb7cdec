"""`lsp-harness action`: an action of the project on the command line."""

from tests.cli.conftest import Shell

SETTINGS = '[generation]\ncandidates = 1\nmax_retries = 0\n[[actions]]\nname = "guard"\nprompt = "Check {symbol}"\n'
CODE = "def f(x):\n    return x\n"
REPLY = "```python\ndef f(x):\n    return int(x)\n```"


def test_the_diff_is_shown_and_written_only_if_asked(shell: Shell) -> None:
    shell.file("lsp-harness.toml", SETTINGS)
    file = shell.file("a.py", CODE)
    shell.replies(REPLY)
    result = shell.run("action", "guard", "a.py:2")
    assert "+    return int(x)\n" in result.out
    assert (result.code, file.read_text()) == (0, CODE)
    shell.replies(REPLY)
    result = shell.run("action", "guard", "a.py:2", "--apply", "--json")
    assert (result.json["action"], result.json["at"], result.json["applied"]) == ("guard", "a.py:2", True)
    assert file.read_text() == CODE.replace("return x", "return int(x)")


def test_mistakes_are_named(shell: Shell) -> None:
    shell.file("a.py", CODE)
    result = shell.run("action", "guard", "a.py:2")
    assert (result.code, "no [[actions]] are defined in lsp-harness.toml" in result.err) == (2, True)
    shell.file("lsp-harness.toml", SETTINGS.replace("{symbol}", "{nothing}"))
    result = shell.run("action", "guard", "a.py:2")
    assert "unknown placeholder {nothing}" in result.err
    assert "the place a.py has no line; write a.py:LINE" in shell.run("action", "guard", "a.py").err
