"""The inputs of sources of context: all that they may read for one prompt."""

from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.context.fragment import TokenCounter
from lsp_harness.context.prompt_budget import PromptBudget
from lsp_harness.context.recent_edits import RecentEdits
from lsp_harness.index.index_view import TimeLimit
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode
from lsp_harness.workspace.cursor import Cursor

if TYPE_CHECKING:
    from lsp_harness.index.index_query import IndexQuery
    from lsp_harness.index.query.definition_lines import CursorNames
    from lsp_harness.knowledge.installed_packages import InstalledPackages


@dataclass(frozen=True, slots=True)
class CodeSelection:
    """The span of a document that an instruction is about, with the syntax tree.

    Attributes:
        document: The version of the document.
        tree: The syntax tree of that version, or None if the text has none.
        span: The selected code, in bytes of the document.
        path: The path that prompts name: relative to the workspace folder if the file lies in one.
    """

    document: Document
    tree: SyntaxTree | None
    span: Span
    path: str

    @property
    def text(self) -> str:
        """The selected code."""
        return decode(self.document.data[slice(*self.span)])

    @property
    def comment(self) -> str:
        """The marker of a line comment in this language, or `#` if the language is unknown or has none."""
        return (self.tree.language.comment if self.tree else "") or "#"


VectorSearch = Callable[[str, str], Awaitable[Sequence[bytes]]]
"""Takes the URI of a document and a task. Returns the digests of the texts in its workspace folder that are most
similar to the task by their embeddings."""


async def search_no_vectors(uri: str, task: str) -> Sequence[bytes]:
    """Return nothing, for front ends without an embedding model."""
    return ()


@dataclass(frozen=True, slots=True)
class CompletionInputs:
    """The cursor, the index and the tokenizer that the sources of a completion use.

    Attributes:
        cursor: The place to complete at. Its document has a tree.
        names: The names around it.
        index: The indexes of the workspace folders.
        count: The tokenizer of the model.
        limit: The time for all questions to the index together.
        recent: The places that the user edited or looked at last, or None if nothing records them.
    """

    cursor: Cursor
    names: "CursorNames"
    index: "IndexQuery"
    count: TokenCounter
    limit: TimeLimit
    recent: RecentEdits | None = None

    @property
    def comment(self) -> str:
        """The marker of a line comment in this language, or `#` if the language has none."""
        return self.names.language.comment or "#"


@dataclass(frozen=True, slots=True)
class WorkspaceScope:
    """The part of a workspace that a prompt may quote.

    Attributes:
        index: The indexes of the workspace folders.
        failing_tests: The names of tests that fail. These are preferred.
        vector_search: The search by embeddings.
    """

    index: "IndexQuery"
    failing_tests: AbstractSet[str] = frozenset()
    vector_search: VectorSearch = search_no_vectors


@dataclass(frozen=True, slots=True)
class PackageScope:
    """The installed packages that the code of one file may use.

    Attributes:
        installed: The installed packages.
        root: The workspace folder.
        file: The file that the code belongs to.
    """

    installed: "InstalledPackages"
    root: Path
    file: Path


@dataclass(frozen=True, slots=True)
class InstructionInputs:
    """The code, the budgets and the workspace that the sources of an instruction use.

    Attributes:
        code: The code to change or explain.
        budget: The token budgets of the prompt.
        count: The tokenizer of the model.
        workspace: The workspace to quote from; None if there is no index.
        packages: The installed packages to quote from; None if they may not be read.
        search_text: The words to search the workspace for, usually the instruction. Empty for no search.
        session: Lines about earlier turns of the session.
    """

    code: CodeSelection
    budget: PromptBudget
    count: TokenCounter
    workspace: WorkspaceScope | None = None
    packages: PackageScope | None = None
    search_text: str = ""
    session: Sequence[str] = ()
