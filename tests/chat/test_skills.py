"""Tests of skills: how they are found, listed and loaded."""

from pathlib import Path

import pytest

from lsp_harness.chat.skills import Skill, SkillTool, find_skills, render_catalogue
from lsp_harness.chat.tool import CallContext
from lsp_harness.chat.tool_grammar import build_tool_grammar
from lsp_harness.disk.file_warnings import forget_warnings
from lsp_harness.errors import UsageError
from lsp_harness.events.tool_events import SkillLoaded
from tests.support.grammar import Acceptor

HEAD = "---\nname: {name}\ndescription: {description}\n---\n"


def write_skill(root: Path, folder: str, text: str) -> Path:
    file = root / folder / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def make_skill(name: str, description: str) -> Skill:
    return Skill(name, description, Path(f"/{name}"), name)


def test_skills_are_found_in_three_folders_and_the_first_of_a_name_counts(tmp_path: Path):
    write_skill(tmp_path, ".claude/skills/x", HEAD.format(name="release", description="third"))
    write_skill(tmp_path, ".agents/skills/x", HEAD.format(name="release", description="second"))
    write_skill(tmp_path, ".agents/skills/y", HEAD.format(name="review", description="Check a change."))
    file = write_skill(tmp_path, ".lsp-harness/skills/z", HEAD.format(name="release", description="first"))
    found = find_skills(tmp_path, is_trusted=True)
    assert found == [
        Skill("release", "first", file, ".lsp-harness/skills/z/SKILL.md"),
        Skill("review", "Check a change.", tmp_path / ".agents/skills/y/SKILL.md", ".agents/skills/y/SKILL.md"),
    ]
    assert find_skills(tmp_path, is_trusted=False) == []
    assert find_skills(tmp_path / "absent", is_trusted=True) == []


@pytest.mark.parametrize(
    ("front_matter", "description"),
    [
        ("description: Plain: with a colon # comment", "Plain: with a colon"),
        ("description: 'It''s quoted'", "It's quoted"),
        ('description: "say \\"yes\\" # now"', 'say "yes" # now'),
        ("description: >-\n  folded\n  lines\nlicense: MIT", "folded lines"),
        ("description: |\n  one\n\n  two", "one two"),
        ("description: begins\n  and goes on", "begins and goes on"),
        ("metadata:\n  description: inner\ndescription: outer", "outer"),
        ("allowed-tools:\n  - read\ndescription: x\r", "x"),
    ],
)
def test_the_front_matter_of_a_skill_is_parsed(tmp_path: Path, front_matter: str, description: str):
    write_skill(tmp_path, ".agents/skills/by-folder", f"---\n{front_matter}\n---\nBody\n")
    assert [(found.name, found.description) for found in find_skills(tmp_path, is_trusted=True)] == [
        ("by-folder", description)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no front matter", "has no description at its top"),
        ("---\nname: a\n---\n", "has no description at its top"),
        ("---\nname: a b\ndescription: x\n---\n", "has no name of letters, digits, - and _ at its top"),
        ("---\ndescription: not closed\n", "has no description at its top"),
        ("", "has no description at its top"),
    ],
)
def test_a_skill_without_a_name_or_a_description_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, message: str
):
    forget_warnings()
    write_skill(tmp_path, ".agents/skills/a", text)
    assert find_skills(tmp_path, is_trusted=True) == []
    assert message in caplog.text


def test_a_link_out_of_the_workspace_is_left_out(tmp_path: Path):
    outside = write_skill(tmp_path, "outside", HEAD.format(name="a", description="x"))
    root = tmp_path / "w"
    (root / ".agents/skills/a").mkdir(parents=True)
    (root / ".agents/skills/a/SKILL.md").symlink_to(outside)
    assert find_skills(root, is_trusted=True) == []


def test_the_catalogue_shortens_descriptions_until_it_fits():
    skills = [make_skill(f"skill-{n}", "word " * 100) for n in range(10)]
    texts = [render_catalogue(skills, budget) for budget in (6000, 1600, 900, 200, 120, 20)]
    assert [len(text) <= budget for text, budget in zip(texts, (6000, 1600, 900, 200, 120, 20), strict=True)] == [
        True
    ] * 6
    assert [len(text.split("\n")[1]) for text in texts[:4]] == [251, 131, 71, 9]
    assert texts[4].endswith("… and 6 more")
    assert render_catalogue([make_skill("a", "Short.")]).endswith("\n- a: Short.")
    assert render_catalogue([]) == ""


async def test_a_skill_is_loaded_when_it_is_called(tmp_path: Path, acceptor: Acceptor):
    file = write_skill(
        tmp_path, ".agents/skills/release", HEAD.format(name="release", description="x") + "\nDo this.\n"
    )
    events: list[SkillLoaded] = []
    tool = SkillTool(find_skills(tmp_path, is_trusted=True), events.append)
    assert events == []
    assert tool.description.endswith("\n- release: x")
    result = await tool.run({"name": "release"}, CallContext("1"))
    assert result.text == "Instructions of the skill release (its files are in .agents/skills/release):\n\nDo this."
    assert events == [SkillLoaded("release", ".agents/skills/release/SKILL.md", 8)]
    assert tool.action({"name": "release"}).paths == (file,)
    assert tool.action({"name": []}).paths == ()
    grammar = build_tool_grammar([tool]).text
    call = '<tool_call>\n{"name": "skill", "arguments": {"name": "NAME"}}\n</tool_call>'
    assert acceptor.accepts(grammar, call.replace("NAME", "release"))
    assert not acceptor.accepts(grammar, call.replace("NAME", "other"))
    with pytest.raises(UsageError, match="there is no skill 'other'; the skills are release"):
        await tool.run({"name": "other"}, CallContext("1"))


async def test_long_instructions_are_cut_off_and_secrets_are_hidden(tmp_path: Path):
    secret = "ghp_" + "a" * 36
    write_skill(tmp_path, ".agents/skills/a", HEAD.format(name="a", description="x") + f"{secret}\n" + "ä" * 40_000)
    tool = SkillTool(find_skills(tmp_path, is_trusted=True), lambda event: None)
    text = (await tool.run({"name": "a"}, CallContext("1"))).text
    assert secret not in text
    assert text.endswith("ä\n… (cut off after 32 KiB; read .agents/skills/a/SKILL.md for the rest)")
    assert len(text.encode()) < 33 * 1024
