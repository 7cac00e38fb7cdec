"""Hidden checks: what they run, how long, and what they cannot do."""

from pathlib import Path

import pytest

from benchmarks.evaluation.suites import check_process
from benchmarks.evaluation.suites.hidden_check import CommandCheck, DiagnosticCheck, MovedMethodCheck, ProgramCheck


@pytest.mark.parametrize(
    ("text", "passes", "reason"),
    [
        ("def one():\n    return 1\n", True, ""),
        ("def one():\n    return 2\n", False, "AssertionError"),
        ("def one(:\n", False, "SyntaxError"),
    ],
)
async def test_a_program_judges_by_its_status(text: str, passes: bool, reason: str):
    judgement = await ProgramCheck("solution.py", after="\nassert one() == 1\n").judge({"solution.py": text})
    assert judgement.passed == passes
    assert reason in judgement.reason


async def test_a_program_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check_process, "TIME_FACTOR", 1.0)
    judgement = await ProgramCheck("a.py", limit_s=0.3).judge({"a.py": "while True:\n    pass\n"})
    assert (judgement.passed, judgement.reason) == (False, "the check was ended: timeout")


async def test_an_answer_that_eats_memory_fails():
    judgement = await ProgramCheck("a.py").judge({"a.py": "x = bytearray(8 << 30)\nx[-1] = 1\n"})
    assert "MemoryError" in judgement.reason


async def test_an_answer_cannot_write_outside_or_read_the_home(tmp_path: Path):
    text = f"open({str(tmp_path / 'escaped')!r}, 'w').write('x')\n"
    judgement = await ProgramCheck("a.py").judge({"a.py": text})
    assert not judgement.passed
    assert not (tmp_path / "escaped").exists()


async def test_an_answer_replaces_only_the_files_that_may_be_edited():
    check = CommandCheck({"data.py": "N = 1\n"}, ("{python}", "a.py"), ("a.py",))
    code = "from data import N\nassert N == 1\n"
    assert (await check.judge({"a.py": code, "data.py": "N = 2\n"})).passed
    assert not (await CommandCheck(check.files, check.command).judge({"a.py": code, "data.py": "N = 2\n"})).passed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f():\n    return 1\n", ""),
        ("def f():\n    import os\n    return 1\n", "F401 is still reported"),
        ("def g():\n    return 1\n", "it lost f"),
        ("def f():\n    import os  # noqa\n    return 1\n", "it silences the linter"),
        ("def f():\n    return unknown\n", "new: F821"),
        ("def f(:\n", "it is not valid Python"),
    ],
)
async def test_a_diagnostic_must_go_and_the_code_must_stay(text: str, reason: str):
    check = DiagnosticCheck("t.py", "def f():\n    import os\n    return 1\n", "F401")
    judgement = await check.judge({"t.py": text})
    assert judgement.reason == reason
    assert judgement.passed == (not reason)


async def test_a_diagnostic_must_not_go_by_a_new_program():
    body = "".join(f"    a{n} = {n}\n" for n in range(20))
    check = DiagnosticCheck("t.py", f"def f():\n    import os\n{body}", "F401")
    assert (await check.judge({"t.py": "def f(): ...\n"})).reason == "it threw code away"
    assert (await check.judge({"t.py": f"def f():\n{body * 5}"})).reason == "it added too much code"


async def test_a_method_must_become_a_function():
    body = "(self):\n        a = 1\n        b = 2\n        c = 3\n        return a + b + c\n"
    rest = "class C:\n" + "".join(f"    def m{n}{body}" for n in range(3))
    function = "def move():\n    a = 1\n    b = 2\n    c = 3\n    return a + b + c\n"
    check = MovedMethodCheck("a.py", "move", "C", 24, 97)
    assert (await check.judge({"a.py": f"{rest}\n\n{function}"})).passed
    assert "still has" in (await check.judge({"a.py": f"{rest}    def move{body}\n\n{function}"})).reason
    assert "no function" in (await check.judge({"a.py": rest})).reason
