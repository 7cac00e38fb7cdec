"""The sources of context. A source that is listed here is in prompts, in their previews and in the documentation.

The sources of one list get their tokens in the order of the list.
"""

from lsp_harness.context.context_source import CompletionSource, InstructionSource
from lsp_harness.context.sources.document_sources import OwnFileSource, RecentCodeSource, SessionHistorySource
from lsp_harness.context.sources.index_sources import (
    DefinitionSource,
    ProjectExampleSource,
    RelatedCodeSource,
    SearchResultSource,
    SimilarCodeSource,
)
from lsp_harness.context.sources.package_signature_source import PackageSignatureSource

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
