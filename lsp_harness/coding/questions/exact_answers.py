"""The answers to exact questions: the index, the checks and git give them, and no model adds a word.

A plain word that is no name of the folder may be an ordinary noun, so the question about it is none of these.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from lsp_harness.coding.questions.code_answers import show_changes, show_source
from lsp_harness.coding.questions.folder_answers import (
    list_contents,
    list_findings,
    list_importers,
    list_imports,
    list_kinds,
    show_commits,
    show_declaration_commits,
    show_file_commits,
    show_first_commit,
    show_last_commit,
    show_person_commits,
    show_results,
)
from lsp_harness.coding.questions.name_answers import (
    find_place,
    list_bases,
    list_callees,
    list_callers,
    list_members,
    list_raised,
    list_subtypes,
    list_tests,
    show_documentation,
    show_signature,
)
from lsp_harness.coding.questions.project_facts import ExactAnswer, ProjectFacts, find_file
from lsp_harness.coding.questions.question import ONE, Family, Question, QuestionSubject
from lsp_harness.coding.questions.question_grammar import read_question
from lsp_harness.syntax.symbols.declarations import WEAK_KINDS

Answerer = Callable[[ProjectFacts, Question], Awaitable[ExactAnswer | None]]
ANSWERERS: Mapping[Family, Answerer] = {
    "where": find_place,
    "code": show_source,
    "callers": list_callers,
    "callees": list_callees,
    "tests": list_tests,
    "signature": show_signature,
    "documentation": show_documentation,
    "raises": list_raised,
    "members": list_members,
    "subtypes": list_subtypes,
    "bases": list_bases,
    "contents": list_contents,
    "imports": list_imports,
    "importers": list_importers,
    "findings": list_findings,
    "results": show_results,
    "kinds": list_kinds,
    "changes": show_changes,
    "commits": show_commits,
    "last_commit": show_last_commit,
    "first_commit": show_first_commit,
    "file_commits": show_file_commits,
    "declaration_commits": show_declaration_commits,
    "person_commits": show_person_commits,
}
"""The function that answers each family of questions. It returns None if the question is about none of our names."""


FOLDER_BEFORE = re.compile(
    r"/|\b(?:in|inside|under|within|below|of|from|has|have|folder|directory|dir)\b", re.IGNORECASE
)
"""Matches words beside which a folder is named."""


async def find_declared_words(facts: ProjectFacts, prompt: str) -> set[str]:
    """Return the words of a prompt that are names of declarations. Raise HarnessError if the index cannot be read.

    The name of the folder means the folder, whatever else it may be the name of.
    """
    words = {word for word in re.findall(r"[^\W\d]\w*", prompt) if len(word) > 1 and word != facts.name}
    declared = await facts.index.symbols_with_names(facts.uri, sorted(words))
    return {symbol.name for symbol in declared if symbol.kind not in WEAK_KINDS}


async def find_folders(facts: ProjectFacts, prompt: str) -> dict[str, str]:
    """Return the words of a prompt that name a folder with code, with the path of each. Raise HarnessError.

    A word may be a path, its end, or the name of a folder. The name of the workspace folder is none of these.
    """
    words = {word.rstrip("/") for word in re.findall(r"[\w@.+~-]+(?:/[\w@.+~-]+)*/?", prompt)} - {facts.name}
    if not words:
        return {}
    parents = {parent for path in await facts.index.code_paths(facts.uri) for parent in PurePosixPath(path).parents}
    paths = sorted((str(one) for one in parents if one.name), key=lambda path: (path.count("/"), path))
    return {word: path for path in reversed(paths) for word in words if f"/{path}".endswith(f"/{word}")}


async def recognize_question(
    facts: ProjectFacts, prompt: str, declared: Collection[str], last: QuestionSubject | None = None
) -> Question | None:
    """Return the exact question that a prompt asks, or None.

    Args:
        facts: The facts of the folder.
        prompt: The prompt of the user.
        declared: The words of the prompt that are names of declarations.
        last: What the session was about last, for words such as “it”.

    Raises:
        HarnessError: The index cannot be read.
    """
    folders = await find_folders(facts, prompt) if FOLDER_BEFORE.search(prompt) else {}
    question = read_question(prompt, declared, last, folders.keys())
    if question and question.folder:
        question = replace(question, folder=folders.get(question.folder, question.folder))
    if question is None or last is None or question.file:
        return question
    if question.topic == ONE or question.name == last.name:
        # the last subject, and not another declaration of this name
        return replace(question, file=last.file)
    return question


async def answer_exactly(facts: ProjectFacts, question: Question) -> ExactAnswer | None:
    """Return the answer to a question, or None if it is about nothing that this folder has.

    Raises:
        HarnessError: The index or git cannot be read.
    """
    answerer = ANSWERERS.get(question.family)
    answer = await answerer(facts, question) if answerer else None
    if answer is None or question.name or not question.file:
        return answer
    path = await find_file(facts, question)
    return replace(answer, symbol=None, path=path) if isinstance(path, str) else answer
