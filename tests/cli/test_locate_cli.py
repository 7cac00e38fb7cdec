"""`lsp-harness locate`: the code that a task is about."""

import pytest

from tests.cli.conftest import Shell

SHOP = (
    "def total(prices):\n    return sum(prices)\n\n\ndef tax_of(price):\n    '''What the state gets of it.'''\n"
    "    return price // 5\n"
)
TASK = "let tax_of round up"


@pytest.fixture
def project(shell: Shell) -> Shell:
    shell.file("shop.py", SHOP)
    shell.file("notes.md", "How tax_of rounds up: it does not.\n")
    return shell


def test_locate_prints_the_lines_of_the_declaration(project: Shell):
    assert project.run("locate", TASK) == (0, "shop.py:5-7: tax_of\n", "")
    first, *doubt = project.run("locate", "what the state gets of a price").out.splitlines()
    assert first == "shop.py:5-7: tax_of"
    # nobody named it, so the command says that and shows what else it may be
    assert doubt[0] == ("not sure: the task names no code of this folder, so its words decided; it may also be:")
    assert "  shop.py:1-2: total" in doubt[1:]
    assert project.run("locate", "round up in shop.py:6") == (0, "shop.py:5-7: tax_of\n", "")


def test_locate_reports_a_name_that_the_folder_does_not_have(project: Shell):
    result = project.run("locate", "let `tax_off` round up")
    assert (result.code, result.out) == (5, "")
    assert "there is no symbol tax_off in this folder; the most similar names are: tax_of" in result.err
    assert "shop.py has 7 lines, so there is no line 70" in project.run("locate", "round up in shop.py:70").err


def test_locate_explains_the_other_candidates(project: Shell):
    first, *others, last = project.run("locate", TASK, "--explain").out.splitlines()
    assert first == "* shop.py:5-7: tax_of  [named 1, mention 1, words 2]"
    assert any(line.startswith("  notes.md:1-1: text  [") for line in others)
    assert last == "chosen by the index"
    output = project.run("locate", TASK, "--json").json
    assert (output["chosen"], output["by"]) == (0, "index")
    assert {name: output["candidates"][0][name] for name in ("path", "first", "last", "signature")} == {
        "path": "shop.py",
        "first": 5,
        "last": 7,
        "signature": "def tax_of(price)",
    }


def test_locate_lets_the_model_choose_if_the_settings_say_so(project: Shell):
    project.set("LSP_HARNESS_LOCATE__RANKING", "model")
    task = "let the tax round up"
    project.replies("1")
    *_, last, doubt = project.run("locate", task, "--explain").out.splitlines()
    assert last == "chosen by the model"
    assert doubt.startswith("not sure: ")
    project.replies("1")
    output = project.run("locate", task, "--json").json
    assert (output["chosen"], output["by"]) == (1, "model")
    project.set("LSP_HARNESS_LOCATE__RANKING", "fate")
    assert "locate.ranking must be one of index, model, not 'fate'" in project.run("locate", TASK).err


def test_locate_without_a_result_says_what_to_do(project: Shell):
    result = project.run("locate", "zebra")
    assert (result.code, result.out) == (5, "")
    assert "name a function in it, or say the place as FILE:LINE" in result.err
    assert "there is no folder 'nowhere'" in project.run("locate", TASK, "nowhere").err
    assert "the task is empty; describe it in words" in project.run("locate", " ").err
    project.set("LSP_HARNESS_INDEX__ENABLED", "false")
    assert "index.enabled is false" in project.run("locate", TASK).err


def test_private_code_is_not_found(project: Shell):
    project.file(".lspharnessignore", "shop.py\n")
    assert "shop.py" not in project.run("locate", TASK).out


def test_the_prompt_of_a_task_that_names_no_place(project: Shell):
    project.replies()
    result = project.run("context", "--task", TASK)
    assert (result.code, result.err) == (0, "lsp-harness: the prompt is that of shop.py:5-7 (tax_of)\n")
    assert "```python\ndef tax_of(price):" in result.out
    assert f"Instruction: {TASK}" in result.out
    project.replies()
    output = project.run("context", "--task", TASK, "--json")
    assert [fragment["text"] for fragment in output.json["fragments"] if fragment["reason"] == "code to change"]
    assert project.run("context").code == 2
