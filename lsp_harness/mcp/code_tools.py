"""The tools that answer questions about the code of the project."""

from typing import Annotated

from pydantic import Field

from lsp_harness.mcp.call_progress import CallContext, follow_call
from lsp_harness.mcp.project_answers import CodeAnswers, ProjectAnswers

Name = Annotated[str, Field(description="The name of a function, class or method: total, or Cart/total")]
File = Annotated[str, Field(description="The file, relative to the project. Empty for all files")]
Offset = Annotated[int, Field(description="The number of lines of the answer that you have already", ge=0)]


class CodeTools:
    """The tools that read code. Each answer is code, is short, and says how to get the rest.

    Args:
        answers: Answers about the project.
    """

    def __init__(self, answers: CodeAnswers) -> None:
        self._answers = answers

    async def find_symbol(self, context: CallContext, name: Name, path: File = "", offset: Offset = 0) -> str:
        """Find functions, classes and methods by their name, and return their code."""
        answer = await follow_call(context, lambda report: self._answers.find_symbol(name, path, report))
        return answer.page(offset)

    async def references(self, context: CallContext, name: Name, path: File = "", offset: Offset = 0) -> str:
        """Return every line that uses a function, class or method, below the declaration that contains it."""
        answer = await follow_call(context, lambda report: self._answers.references(name, path, report))
        return answer.page(offset)

    async def get_context(self, context: CallContext, name: Name, path: File = "", offset: Offset = 0) -> str:
        """Return the code of a symbol with its imports, and the signatures of what it calls, of its callers and tests.

        Calls by objects whose type is not known are listed as perhaps. Ask this before you change a symbol.
        """
        answer = await follow_call(context, lambda report: self._answers.get_context(name, path, report))
        return answer.page(offset)

    async def relations(self, context: CallContext, name: Name, path: File = "", offset: Offset = 0) -> str:
        """Return the callers and tests of a symbol with their lines, and what it calls, extends and is imported by."""
        answer = await follow_call(context, lambda report: self._answers.relations(name, path, report))
        return answer.page(offset)

    async def locate(
        self,
        context: CallContext,
        task: Annotated[str, Field(description="What shall be done, in words: let parse_config accept a path")],
        offset: Offset = 0,
    ) -> str:
        """Find the code that a task is about. Returns the best place with its code, and other places.

        A name of the project, FILE, FILE:LINE and Class.method in the task are taken at their word.
        """
        answer = await follow_call(context, lambda report: self._answers.locate(task, report))
        return answer.page(offset)


class ProjectTools:
    """The tools for errors, outputs and packages. They write nothing.

    Args:
        answers: Answers about the project.
    """

    def __init__(self, answers: ProjectAnswers) -> None:
        self._answers = answers

    async def fix_error(
        self,
        context: CallContext,
        path: Annotated[str, Field(description="The file, relative to the project")],
        line: Annotated[int, Field(description="The line of the error. 0: the first error of the file", ge=0)] = 0,
    ) -> str:
        """Return a fix for a syntax error or a finding of the linter in a file on disk, as a diff that passed checks.

        It is not applied. Most fixes need no model.
        """
        answer = await follow_call(context, lambda report: self._answers.fix(path, line, report))
        return answer.page()

    async def digest(
        self,
        context: CallContext,
        output: Annotated[str, Field(description="What a test runner, a linter or a compiler printed")],
        tool: Annotated[str, Field(description="The tool, such as pytest or cargo. Empty: it is recognized")] = "",
        offset: Offset = 0,
    ) -> str:
        """Shorten the output of tests, linters and compilers to one line per problem."""
        answer = await follow_call(context, lambda report: self._answers.digest(output, tool))
        return answer.page(offset)

    async def docs(
        self,
        context: CallContext,
        name: Annotated[str, Field(description="The name as code writes it: requests.get, lodash.debounce")],
        language: Annotated[str, Field(description="The language. Empty: all are tried")] = "",
        offset: Offset = 0,
    ) -> str:
        """Return the signature and documentation of a name in an installed package, as it is installed here."""
        answer = await follow_call(context, lambda report: self._answers.docs(name, language))
        return answer.page(offset)
