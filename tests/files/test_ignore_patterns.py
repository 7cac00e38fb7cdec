"""Tests that ignore patterns keep their meaning and match in bounded time."""

import random
import re
from pathlib import Path

from inline_snapshot import snapshot
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.ignore_patterns import remove_backtracking


def read_expression(pattern: str) -> re.Pattern[str]:
    made = GitIgnoreSpecPattern(pattern).regex
    assert made is not None
    return made


PARTS = ["a", "b", "*", "?", "[ab]", "[!a]", "[^b]", "\\*", "**", "a", "*"]


def draw_component(rng: random.Random) -> str:
    return rng.choice(["**", "*", "**", "".join(rng.choices(PARTS, k=rng.randint(1, 5)))])


def draw_path(rng: random.Random) -> str:
    return "/".join("".join(rng.choices("ab*", k=rng.randint(1, 5))) for _ in range(rng.randint(1, 6)))


def test_patterns_match_the_same_paths_as_before():
    rng = random.Random(1)
    matched = 0
    for _ in range(1_500):
        pattern = "/" * rng.randint(0, 1) + "/".join(draw_component(rng) for _ in range(rng.randint(1, 6)))
        pattern += "/" * rng.randint(0, 1)
        made = read_expression(pattern).pattern
        # to pathspec a slash is one of the characters that a class says it is not
        slow, quick = re.compile(re.sub(r"\[\^([ab])\]", r"[^\1/]", made)), re.compile(remove_backtracking(made))
        for name in (draw_path(rng) + "/" * rng.randint(0, 1) for _ in range(10)):
            slow_match, quick_match = slow.search(name), quick.search(name)
            assert (slow_match is None) is (quick_match is None), (pattern, name)
            if slow_match and quick_match:
                matched += 1
                # what is ignored as a folder counts less
                assert slow_match.groupdict() == quick_match.groupdict(), (pattern, name)
    assert matched > 1_500


def test_a_pattern_becomes_the_expected_expression():
    assert remove_backtracking(read_expression("*a*b?*.py").pattern) == snapshot(
        "^(?:.+/)?(?>[^/]*?a)(?>[^/]*?b[^/])[^/]*\\.py(?:(?P<ps_d>/)|$)"
    )
    assert remove_backtracking(read_expression("x/**/a*b*/c/**/d").pattern) == snapshot(
        "^x(?>(?:/[^/]+)*?/a(?>[^/]*?b)[^/]*/c(?=/))(?:/.+)?/d(?:(?P<ps_d>/)|$)"
    )


SLOW = {
    "*a" * 40 + "*b": "a" * 200,
    "x" + "*?a" * 40 + "[b]": "x" + "a" * 200,
    "a/" + "**/a/" * 20 + "b": "a/" * 100 + "a",
    "**/" + "a/**/?/**/" * 20 + "b": "a/" * 100 + "a",
    "**/*a*a*a/" * 20 + "b": "aaaaaaaa/" * 50 + "a",
    "*a" * 200_000: "a" * 200,
}


def test_a_pattern_that_could_fit_in_many_ways_is_answered(tmp_path: Path):
    (tmp_path / ".gitignore").write_text("".join(f"{pattern}\n" for pattern in SLOW) + "c.py\n")
    for name in SLOW.values():
        assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / name) == ""
    assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "c.py") == ".gitignore"


def test_a_reversed_range_means_its_first_character_as_in_git(tmp_path: Path):
    (tmp_path / ".gitignore").write_text("[b-a].py\nc.py\n")
    assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "c.py") == ".gitignore"
    assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "b.py") == ".gitignore"
    assert IgnoreFiles([tmp_path]).ignoring_file(tmp_path / "a.py") == ""
