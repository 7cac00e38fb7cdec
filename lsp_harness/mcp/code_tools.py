"""The tools that answer questions about the code of the project."""

from typing import Annotated

from pydantic import Field

from lsp_harness.harness.served.code_answers import CodeAnswers
from lsp_harness.mcp.call_progress import CallContext, follow_call

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
        """Return the code of a symbol with its imports, and the signatures of what it calls and of what uses it.

        Ask this before you change a symbol.
        """
        answer = await follow_call(context, lambda report: self._answers.get_context(name, path, report))
        return answer.page(offset)

    async def locate(
        self,
        context: CallContext,
        task: Annotated[str, Field(description="What shall be done, in words: let parse_config accept a path")],
        offset: Offset = 0,
    ) -> str:
        """Find the code that a task is about. Returns the best place with its code, and other places."""
        answer = await follow_call(context, lambda report: self._answers.locate(task, report))
        return answer.page(offset)
