"""The sources of context. A source that is listed here is in prompts, in their previews and in the documentation.

The sources of one list get their tokens in the order of the list.
"""

from lsp_harness.context.context_source import CompletionSource, InstructionSource
from lsp_harness.context.sources.definition_source import DefinitionSource
from lsp_harness.context.sources.own_file_source import OwnFileSource
from lsp_harness.context.sources.package_signature_source import PackageSignatureSource
from lsp_harness.context.sources.project_example_source import ProjectExampleSource
from lsp_harness.context.sources.recent_code_source import RecentCodeSource
from lsp_harness.context.sources.related_code_source import RelatedCodeSource
from lsp_harness.context.sources.search_result_source import SearchResultSource
from lsp_harness.context.sources.session_history_source import SessionHistorySource
from lsp_harness.context.sources.similar_code_source import SimilarCodeSource

COMPLETION_SOURCES: tuple[type[CompletionSource], ...] = (
    RecentCodeSource,
    DefinitionSource,
    OwnFileSource,
    SimilarCodeSource,
)
INSTRUCTION_SOURCES: tuple[type[InstructionSource], ...] = (
    SessionHistorySource,
    RelatedCodeSource,
    PackageSignatureSource,
    ProjectExampleSource,
    SearchResultSource,
)
