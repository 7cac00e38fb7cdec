"""What an index says of names: where they are defined, what they look like there, and who imports them."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lsp_harness.index.build.import_links import SCRIPT_EXTENSIONS, ImportLinks, namespace_condition
from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.store.database import Reader, Row, placeholders
from lsp_harness.text.position import decode, encode

MAX_IMPORT_HOPS = 4
"""Files that a name is followed through: packages hand on what others define."""
MAX_MENTIONS = 200
FOLDER_SCOPED_LANGUAGES = frozenset({"go", "java", "csharp"})
"""Languages in which files of one folder see each other without an import."""
NAMESPACE_LANGUAGES = frozenset({"csharp", "php"})
"""Those in which files of one namespace do."""
EVERYTHING = frozenset({"c", "cpp", "csharp", "ruby"})
"""Languages in which who imports something sees all that is at its top."""
BY_LAST = frozenset({"java", "php"})
"""Those in which the last part of what is imported is a name in it."""
KEPT = frozenset({"csharp", "java"})
"""Those in which what a file imports is for itself: who imports the file does not see it."""
DEFAULT = frozenset({"javascript", "typescript", "tsx"})
"""Those in which a module may be imported for one thing of it, which mostly is called as it is here."""
TOP = "(parent = -1 OR (SELECT kind FROM symbols AS around WHERE around.file = symbols.file AND around.n = symbols.parent) = 'namespace')"
PART = re.compile(r"\w+")
GUIDES = (
    *("__init__.py", "__init__.pyi", "package.json", "tsconfig.json", "jsconfig.json", "go.mod"),
    *("Cargo.toml", "lib.rs", "main.rs", "mod.rs", *(f"index{extension}" for extension in SCRIPT_EXTENSIONS[1:-1])),
)
"""Files that imports go by, or mean without naming them."""
LINKED = 1_000
"""Files whose imports are followed at once."""
NO_UNSAVED_TEXTS: Mapping[str, UnsavedText] = {}
SYMBOL_COLUMNS = "path, language, file, n, parent, kind, name, qualified, start, end, named, body, line, bases"
SELECT_SYMBOLS = f"SELECT {SYMBOL_COLUMNS} FROM symbols JOIN files ON files.id = symbols.file"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition in the index. Offsets are bytes of its file, `n` and `parent` places in it (-1 for none)."""

    path: str
    language: str
    file: int
    n: int
    parent: int
    kind: str
    name: str
    qualified: str
    start: int
    end: int
    named: int
    body: int
    line: int
    bases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedName:
    """What a file calls `used`: `name` of a module, empty for the module itself, `*` for all of it; in the files `targets`. It may be
    `one` thing of the module, whose name is not said. What is `kept` is not seen by who imports the file."""

    local_name: str
    name: str
    module: str
    targets: tuple[int, ...]
    is_default: bool = False
    is_private: bool = False


class IndexView:
    """Of one folder's index, for one question: a file, and what it imports, is read once. Texts that are `opened`, by their paths,
    count as they are now; one that was never saved has an id below zero."""

    def __init__(self, reader: Reader, opened: Mapping[str, UnsavedText] = NO_UNSAVED_TEXTS) -> None:
        self.reader = reader
        self._files: dict[str, tuple[int, str] | None] = {}
        self._imports: dict[int, list[ImportedName]] = {}
        self._opened: dict[int, tuple[str, UnsavedText]] = {}
        for n, (path, text) in enumerate(opened.items()):
            known = self.find_file(path)
            file = known[0] if known else -2 - n
            self._files[path] = file, text.language
            self._opened[file] = path, text

    def find_file(self, path: str) -> tuple[int, str] | None:
        """Id and language of a file."""
        if path not in self._files:
            rows = self.reader.rows("SELECT id, language FROM files WHERE path = ?", (path,))
            self._files[path] = rows[0] if rows else None  # type: ignore[assignment]
        return self._files[path]

    def read_imports(self, file: int) -> list[ImportedName]:
        """What a file imports, in its order."""
        if file not in self._imports:
            self._imports[file] = self._read_imports(file)
        return self._imports[file]

    def _read_imports(self, file: int) -> list[ImportedName]:
        found: dict[int, ImportedName] = {}
        if file in self._opened:
            return self._imports_now(file)
        rows = self.reader.rows(
            "SELECT language, imports.n, module, name, alias, target FROM imports JOIN files ON files.id = imports.file "
            "LEFT JOIN targets ON targets.file = imports.file AND targets.n = imports.n WHERE imports.file = ? ORDER BY 2",
            (file,),
        )
        for language, n, module, name, alias, target in rows:
            known = found.get(n)
            targets = (*(known.targets if known else ()), *([target] if target else []))
            found[n] = _imported(language, module, name, alias, targets)
        return list(found.values())

    def _imports_now(self, file: int) -> list[ImportedName]:
        """Of an opened text: what it imported when it was indexed means what it meant."""
        path, text = self._opened[file]
        known: dict[tuple[str, str], tuple[int, ...]] = {}
        for module, name, target in self.reader.rows(
            "SELECT module, name, target FROM imports LEFT JOIN targets USING (file, n) WHERE file = ?", (file,)
        ):
            known[module, name] = (*known.get((module, name), ()), *([target] if target else []))
        if new := [one for one in text.imports if (one.module, one.name) not in known]:
            links = self._links(path, [f"{one.module} {one.name}" for one in new])
            for one in new:
                targets = links.find_targets(path, text.language, one.module, one.name)
                known[one.module, one.name] = self._files_of(targets)
        return [
            _imported(text.language, one.module, one.name, one.alias, known[one.module, one.name])
            for one in text.imports
        ]

    def _links(self, path: str, said: Iterable[str]) -> ImportLinks:
        """Of the files that an import of a file may mean which says this, and those that imports go by."""
        parts = {part for each in said for part in PART.findall(each)} | {path.rpartition("/")[0].rpartition("/")[2]}
        parts.discard("")
        where = " OR ".join([*["instr(path, ?) > 0"] * len(parts), f"name IN ({placeholders(len(GUIDES))})"])
        # the name of a file is what is left without all that is before the last slash
        name = "replace(path, rtrim(path, replace(path, '/', '')), '') AS name"
        sql = f"SELECT path FROM (SELECT path, {name} FROM files) WHERE {where}"
        listed = [each for (each,) in self.reader.rows(sql, (*sorted(parts), *GUIDES))]
        links = ImportLinks([*listed, *(each for each, _ in self._opened.values())], self._said)
        links.find_namespace_files = self._declaring
        return links

    def _said(self, path: str) -> str:
        """All of a file."""
        here = self.find_file(path)
        return decode(self.read_file(here[0])) if here else ""

    def _declaring(self, namespace: str) -> list[str]:
        """The files that declare a namespace."""
        found = self._symbols(
            *namespace_condition(namespace),
            lambda one: (one.kind, one.qualified, one.language) == ("namespace", namespace, "csharp"),
        )
        return sorted({one.path for one in found})

    def _files_of(self, paths: Iterable[str]) -> tuple[int, ...]:
        return tuple(file for file, _ in filter(None, map(self.find_file, paths)))

    def find_definitions(self, path: str, name: str) -> list[Symbol]:
        """The definitions in other files that a name in this file may mean, which is what it is imported from."""
        here = self.find_file(path)
        if here is None:
            return []
        file, language = here
        found = self._imported(file, name, {(file, ""): MAX_IMPORT_HOPS}, MAX_IMPORT_HOPS)
        if not found and language in FOLDER_SCOPED_LANGUAGES | NAMESPACE_LANGUAGES:
            others = [one for one in self._tops(name) if one.file != file and one.language == language]
            found = [one for one in others if self._beside(path, file, one)]
        return found

    def _beside(self, path: str, file: int, other: Symbol) -> bool:
        """Whether a file sees what another has at its top without importing it."""
        near = other.language in FOLDER_SCOPED_LANGUAGES and other.path.rpartition("/")[0] == path.rpartition("/")[0]
        shared = other.language in NAMESPACE_LANGUAGES and not self._namespaces(file).isdisjoint(
            self._namespaces(other.file)
        )
        return near or shared

    def _namespaces(self, file: int) -> frozenset[str]:
        """Those that a file declares."""
        found = self._symbols(
            "file = ? AND kind = 'namespace'", (file,), lambda one: one.file == file and one.kind == "namespace"
        )
        return frozenset(one.qualified for one in found)

    def find_module_member(self, path: str, module: str, name: str) -> list[Symbol]:
        """What `module.name` means in a file, where `module` is something it imports."""
        here = self.find_file(path)
        if here is None:
            return []
        targets = {target for one in self.read_imports(here[0]) if one.local_name == module for target in one.targets}
        seen = {(here[0], ""): MAX_IMPORT_HOPS}
        return [one for target in sorted(targets) for one in self._exported(target, name, seen, MAX_IMPORT_HOPS)]

    def find_module_symbols(self, path: str, language: str, module: str) -> list[Symbol]:
        """What the files of a module have at their top, as one file names the module, whether or not it imports it already."""
        here = self.find_file(path)
        targets = {
            target
            for one in (self.read_imports(here[0]) if here else ())
            if one.module == module
            for target in one.targets
        }
        if not targets:
            targets = {*self._files_of(self._links(path, [module]).find_targets(path, language, module, ""))}
        return [one for target in sorted(targets) for one in self._outermost(target)]

    def _outermost(self, file: int) -> list[Symbol]:
        return self._symbols(
            "file = ? AND parent = -1 ORDER BY n", (file,), lambda one: one.file == file and one.parent < 0
        )

    def find_symbol(self, path: str, qualified: str) -> Symbol | None:
        """The declaration of a file by its qualified name, the first of several."""
        file = here[0] if (here := self.find_file(path)) else -1
        found = self._symbols(
            "file = ? AND qualified = ? ORDER BY n LIMIT 1",
            (file, qualified),
            lambda one: one.file == file and one.qualified == qualified,
        )
        return found[0] if found else None

    def find_qualified(self, name: str) -> list[Symbol]:
        """The declarations of this name, or qualified name, or end of one."""
        last = name.rpartition(".")[2]
        found = self._symbols("name = ? ORDER BY path, n", (last,), lambda one: one.name == last)
        return [one for one in found if f".{one.qualified}".endswith(f".{name}")]

    def find_mentions(self, name: str) -> Iterator[tuple[str, Symbol | None, str]]:
        """The pieces of files, `MENTIONS` at most, that may have a name in them: path, the declaration a piece is of, its text."""
        rows = self.reader.rows(
            "SELECT path, file, symbol, text FROM texts JOIN chunks ON chunks.id = texts.rowid "
            "JOIN files ON files.id = chunks.file WHERE texts MATCH ? AND language != '' LIMIT ?",
            ('text: "' + name.replace('"', "") + '"', MAX_MENTIONS),
        )
        for path, file, n, text in rows:
            around = self.reader.rows(f"{SELECT_SYMBOLS} WHERE file = ? AND n = ?", (file, n)) if n >= 0 else []
            symbol = symbol_from_row(around[0]) if around else None
            yield path, self.find_symbol(path, symbol.qualified) if symbol and file in self._opened else symbol, text

    def find_by_name(self, name: str, limit: int, kinds: Collection[str] = (), language: str = "") -> list[Symbol]:
        """The symbols of that name, of `kinds` and a language where these are given, by path; the first `most`."""
        of_kinds = f"AND kind IN ({placeholders(len(kinds))})" if kinds else ""
        found = self._symbols(
            f"name = ? {of_kinds} {'AND language = ?' if language else ''} ORDER BY path, n LIMIT ?",
            (name, *kinds, *([language] if language else ()), limit),
            lambda one: one.name == name and (not kinds or one.kind in kinds) and language in ("", one.language),
        )
        return sorted(found, key=lambda one: (one.path, one.n))[:limit]

    def find_members(self, symbol: Symbol) -> list[Symbol]:
        """What is declared right inside of it, and for a type elsewhere (`func (c *Circle) Area`, `impl Circle`)."""
        found = self._symbols(
            "file = ? AND parent = ? ORDER BY n",
            (symbol.file, symbol.n),
            lambda one: one.file == symbol.file and one.parent == symbol.n,
        )
        if symbol.language in ("go", "rust", "cpp"):
            like = f"{symbol.qualified}."
            found += self._symbols(
                "substr(qualified, 1, ?) = ? AND name = substr(qualified, ?) AND file IN "
                "(SELECT id FROM files WHERE language = ?) AND NOT (file = ? AND parent = ?)",
                (len(like), like, len(like) + 1, symbol.language, symbol.file, symbol.n),
                lambda one: (
                    one.qualified == like + one.name
                    and one.language == symbol.language
                    and (one.file, one.parent) != (symbol.file, symbol.n)
                ),
            )
        return found

    def find_visible(self, file: int, name: str) -> list[Symbol]:
        """What a name at the top of a file means: its own, or what it imports."""
        return self._own(file, name) or self._imported(file, name, {(file, ""): MAX_IMPORT_HOPS}, MAX_IMPORT_HOPS - 1)

    def find_importers(self, file: int) -> list[str]:
        """The files that import this one."""
        sql = "SELECT DISTINCT path FROM targets JOIN files ON files.id = targets.file WHERE target = ? ORDER BY path"
        return [path for (path,) in self.reader.rows(sql, (file,))]

    def find_dependents(self, files: Iterable[int], far: int) -> set[int]:
        """These files, and those that import them over at most so many files."""
        found = set(files)
        todo = [*found]
        while todo and far:
            importing = {
                file
                for at in range(0, len(todo), LINKED)
                for (file,) in self.reader.rows(
                    f"SELECT DISTINCT file FROM targets WHERE target IN ({placeholders(len(todo[at : at + LINKED]))})",
                    todo[at : at + LINKED],
                )
            }
            todo = [*(importing - found)]
            found, far = found | importing, far - 1
        return found

    def read_text(self, symbol: Symbol, start: int, end: int) -> str:
        """Bytes of the file of a symbol, as far as they are in one chunk with `start`."""
        begin, data = self.read_chunk(symbol.file, start)
        return decode(data[start - begin : end - begin])

    def list_symbols(self, file: int) -> list[Symbol]:
        """What a file declares, in its order."""
        return self._symbols("file = ? ORDER BY n", (file,), lambda one: one.file == file)

    def read_file(self, file: int) -> bytes:
        """A file as its chunks have it: with line ends for what is blank between them."""
        if file in self._opened:
            return self._opened[file][1].data
        found = bytearray()
        rows = self.reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE file = ? ORDER BY 1",
            (file,),
        )
        for start, text in rows:
            found += b"\n" * (start - len(found)) + encode(text)
        return bytes(found)

    def read_with_comments(self, symbol: Symbol) -> str:
        """A declaration with the comments and decorators above it, whole lines; empty for one that is in no chunk of its own."""
        if symbol.file in self._opened:
            text = self._opened[symbol.file][1]
            begun = [one.start for one in text.chunks if one.symbol == symbol.n]
            end = text.data.find(b"\n", symbol.end)
            return decode(text.data[min(begun) : end if end >= 0 else None]) if begun else ""
        rows = self.reader.rows(
            "SELECT chunks.start, chunks.end, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE file = ? AND "
            "chunks.start < ? AND chunks.start >= (SELECT min(start) FROM chunks WHERE file = ? AND symbol = ?) ORDER BY 1",
            (symbol.file, symbol.end, symbol.file, symbol.n),
        )
        text, at = "", rows[0][0] if rows else 0
        for start, end, piece in rows:
            # chunks leave out what is blank
            text, at = text + "\n" * min(2, start - at) + piece, end
        return text

    def read_line_start(self, symbol: Symbol) -> str:
        """What is before the name of a symbol on its line."""
        # chunks are whole lines
        begin, data = self.read_chunk(symbol.file, symbol.named)
        return decode(data[: symbol.named - begin].rpartition(b"\n")[2])

    def read_body(self, symbol: Symbol) -> str:
        """The text of a declaration, as far as chunks have it."""
        if symbol.file in self._opened:
            return decode(self._opened[symbol.file][1].data[symbol.start : symbol.end])
        rows = self.reader.rows(
            # chunks are whole lines
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id "
            "WHERE file = ? AND chunks.end > ? AND chunks.start < ? ORDER BY 1",
            (symbol.file, symbol.start, symbol.end),
        )
        return "".join(decode(encode(text)[max(0, symbol.start - start) : symbol.end - start]) for start, text in rows)

    def read_lines(self, path: str, start: int, end: int) -> list[str]:
        """The lines of the chunks of a file within these bytes, as it was indexed."""
        rows = self.reader.rows(
            "SELECT text FROM chunks JOIN texts ON texts.rowid = chunks.id JOIN files ON files.id = chunks.file "
            "WHERE path = ? AND chunks.start >= ? AND chunks.end <= ? ORDER BY chunks.start",
            (path, start, end),
        )
        return [line for (text,) in rows for line in text.splitlines()]

    def read_chunk(self, file: int, at: int) -> tuple[int, bytes]:
        """Where the chunk begins that this byte is in, and its text; nothing where there is none. An opened text is one."""
        if file in self._opened:
            return 0, self._opened[file][1].data
        rows = self.reader.rows(
            "SELECT chunks.start, text FROM chunks JOIN texts ON texts.rowid = chunks.id "
            "WHERE chunks.file = ? AND chunks.start <= ? AND chunks.end > ?",
            (file, at, at),
        )
        return (rows[0][0], encode(rows[0][1])) if rows else (at, b"")

    def read_signature(self, symbol: Symbol) -> str:
        """Its declaration without the body, on one line."""
        return " ".join(self.read_text(symbol, symbol.start, symbol.body).split())

    def _imported(
        self, file: int, name: str, seen: dict[tuple[int, str], int], far: int, *, handed: bool = False
    ) -> list[Symbol]:
        """What a file imports by this name; only what it hands on to who imports it, where it is `handed`."""
        named: list[ImportedName] = []
        whole: list[ImportedName] = []
        for one in self.read_imports(file):
            if handed and one.is_private:
                continue
            if one.local_name == name and one.name not in ("", "*"):
                named.append(one)
            elif one.local_name == name and one.is_default:
                named.append(replace(one, name=name))
            elif one.name == "*":
                whole.append(one)
        wanted = [(target, one.name) for one in named for target in one.targets]
        wanted += [(target, name) for one in whole for target in one.targets]
        return [symbol for target, called in wanted for symbol in self._exported(target, called, seen, far)]

    def _exported(self, file: int, name: str, seen: dict[tuple[int, str], int], far: int) -> list[Symbol]:
        """What a file has by this name: its own, or what it imports itself. `seen` says how far from a file on a name, or all,
        was looked for already: files that import each other have as many ways between them as there are orders of them."""
        if far <= max(seen.get((file, name), 0), seen.get((file, ""), 0)):
            return []
        seen[file, name] = far
        return self._own(file, name) or self._imported(file, name, seen, far - 1, handed=True)

    def _own(self, file: int, name: str) -> list[Symbol]:
        return self._symbols(
            f"file = ? AND name = ? AND {TOP} ORDER BY n",
            (file, name),
            lambda one: one.file == file and one.name == name and self._is_top(one),
        )

    def _tops(self, name: str) -> list[Symbol]:
        """What is declared by this name at the top of any file."""
        return self._symbols(f"name = ? AND {TOP}", (name,), lambda one: one.name == name and self._is_top(one))

    def _is_top(self, one: Symbol) -> bool:
        """Of an opened text."""
        return self._opened[one.file][1].is_top_level(one.n)

    def _symbols(self, where: str, arguments: Sequence[Any], fits: Callable[[Symbol], bool]) -> list[Symbol]:
        """The symbols of which a condition of SQL holds; those of opened texts by `fits`, which says the same."""
        saved = f"file NOT IN ({placeholders(len(self._opened))})"
        rows = self.reader.rows(f"{SELECT_SYMBOLS} WHERE {saved} AND {where}", (*self._opened, *arguments))
        return [*map(symbol_from_row, rows), *(filter(fits, self._now) if self._opened else ())]

    @cached_property
    def _now(self) -> list[Symbol]:
        """What the opened texts declare."""
        opened = self._opened.items()
        return [one for file, (path, text) in opened for one in _opened_symbols(file, path, text)]


def _opened_symbols(file: int, path: str, text: UnsavedText) -> Iterator[Symbol]:
    for n, (one, name) in enumerate(zip(text.declarations, text.qualified_names, strict=True)):
        yield Symbol(path, text.language, file, n, one.parent, one.kind, one.name, name, *one[2:7], one.bases)


def _imported(language: str, module: str, name: str, alias: str, targets: tuple[int, ...]) -> ImportedName:
    used = alias or name or _last(module)
    if not name and language in BY_LAST:
        name = _last(module)
    if not name and language in EVERYTHING:
        name = _last(module) if alias else "*"
    only = bool(alias) and not name and language in DEFAULT
    return ImportedName(used, name, module, targets, only, language in KEPT)


def symbol_from_row(row: Row) -> Symbol:
    # one a line, as they are in the table
    bases = tuple(row[-1].split("\n")) if row[-1] else ()
    return Symbol(*row[:-1], bases)  # pyright: ignore[reportCallIssue]


def _last(module: str) -> str:
    return module.strip("<>\"'").replace("::", "/").replace(".", "/").replace("\\", "/").rstrip("/").rpartition("/")[2]
