"""A workspace and its index, without a process."""

from pathlib import Path

from lsp_harness.files.walk import WalkedFile
from lsp_harness.index.builder.file_extract import extract_file
from lsp_harness.index.builder.import_links import ImportLinks
from lsp_harness.index.builder.index_writer import IndexWriter
from lsp_harness.index.index_executor import DirectExecutor
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_search import CodeSearch
from lsp_harness.store.database import DatabaseReader, DatabaseWriter


class IndexedFolder:
    """An index of files with these texts."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        folder.mkdir(exist_ok=True)
        self.writer = DatabaseWriter(folder / "index.db", SCHEMA, read_schema_version())
        filling = IndexWriter(self.writer)
        filling.write(extract_file(WalkedFile(path, 1, len(text)), text.encode()) for path, text in files.items())
        filling.link_imports(ImportLinks(files, files.__getitem__))
        self.reader = DatabaseReader(folder / "index.db")
        self.view, self.search = IndexView(self.reader), CodeSearch(self.reader)
        self.query = IndexQuery(DirectExecutor(self.reader))

    def close(self) -> None:
        self.reader.close()
        self.writer.close()
