"""Documents against a reference that walks the text character by character."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lsp_harness.text.document import Document, line_starts
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, decode, encode
from tests.text import reference
from tests.text.reference import encodings, texts

numbers = st.integers(-2, 30)
many = settings(max_examples=80, deadline=None)


def make_document(text: str) -> Document:
    return Document.from_text("file:///a.py", text, language="python", version=1)


@many
@given(texts)
def test_decoding_gives_the_encoded_text(text: str) -> None:
    assert decode(encode(text)) == make_document(text).text == text
    assert len(encode(text)) == reference.count_bytes(text)


@many
@given(texts)
def test_lines_end_only_at_the_three_line_ends(text: str) -> None:
    doc = make_document(text)
    expected = reference.split_lines(text)
    assert len(doc.line_starts) == len(expected)
    assert [doc.line(n) for n in range(len(expected))] == [encode(reference.strip_line_end(line)) for line in expected]
    assert list(doc.line_starts) == [reference.count_bytes("".join(expected[:n])) for n in range(len(expected))]


@many
@given(texts, numbers, numbers, encodings)
@example("😀x\r\n", 0, 1, "utf-16")
@example("é\n", 0, 1, "utf-8")
@example("a\r\nb", 0, 99, "utf-16")
def test_a_client_position_is_where_the_protocol_says(text: str, line: int, character: int, encoding: Encoding) -> None:
    result = make_document(text).offset(Position(line, character), encoding)
    assert result == reference.count_bytes(text[: reference.index(text, line, character, encoding)])


@many
@given(texts, encodings, st.data())
def test_every_character_has_a_position_that_leads_back_to_its_offset(
    text: str, encoding: Encoding, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    doc, offset = make_document(text), reference.count_bytes(text[:at])
    back = doc.offset(doc.position(offset, encoding), encoding)
    inside_crlf = text[at - 1 : at + 1] == "\r\n" if at else False
    assert back == (offset - 1 if inside_crlf else offset)


@many
@given(texts, encodings)
def test_positions_go_up_with_offsets_also_inside_of_characters(text: str, encoding: Encoding) -> None:
    doc = make_document(text)
    positions = [doc.position(offset, encoding) for offset in range(len(doc.data) + 1)]
    assert positions == sorted(positions)
    assert all(doc.offset(p, encoding) <= offset for offset, p in enumerate(positions))


@many
@given(st.binary(max_size=12), encodings, st.integers(0, 12), st.integers(0, 12))
@example(b"\xff\xffx", "utf-32", 0, 2)
@example(b"\x80\x80", "utf-8", 0, 1)
def test_bytes_that_are_no_text_never_lead_out_of_the_line(
    data: bytes, encoding: Encoding, line: int, character: int
) -> None:
    doc = Document.from_text("file:///a.py", data)
    offset = doc.offset(Position(line, character), encoding)
    if line < len(doc.line_starts):
        start, end = doc.line_span(line)
        assert start <= offset <= end
        assert doc.offset(doc.position(offset, encoding), encoding) == offset
    else:
        assert offset == len(data)


@many
@given(texts)
def test_a_point_counts_rows_as_tree_sitter_does(text: str) -> None:
    doc = make_document(text)
    row = column = 0
    for offset, byte in enumerate(doc.data):
        assert doc.point(offset) == (row, column)
        row, column = (row + 1, 0) if byte == 0x0A else (row, column + 1)
    assert doc.point(len(doc.data)) == (row, column)


@many
@given(texts, st.lists(st.tuples(numbers, numbers, numbers, numbers, texts), max_size=8), encodings)
@example("a\r\nb", [(0, 1, 1, 0, "\n")], "utf-16")
@example("a\rb", [(1, 0, 1, 0, "\n")], "utf-16")
@example("a\n", [(0, 1, 0, 1, "\r")], "utf-16")
@example("\r\n\r\n", [(1, 0, 2, 0, "")], "utf-16")
def test_a_chain_of_client_edits_gives_the_text_of_the_reference(
    text: str, changes: list[tuple[int, int, int, int, str]], encoding: Encoding
) -> None:
    doc = make_document(text)
    for version, (line, character, end_line, end_character, new) in enumerate(changes, 2):
        a = reference.index(text, line, character, encoding)
        b = reference.index(text, end_line, end_character, encoding)
        a, b = min(a, b), max(a, b)
        result = doc.offset(Position(line, character), encoding)
        other = doc.offset(Position(end_line, end_character), encoding)
        doc = doc.apply_edit(Edit(min(result, other), max(result, other), encode(new)), version)
        text = text[:a] + new + text[b:]
        assert doc == make_document(text).apply_edit(Edit(0, 0, b""), version)
        assert list(doc.line_starts) == line_starts(doc.data)


@many
@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b""]), max_size=8).map(b"".join), st.data())
def test_the_line_index_is_right_wherever_a_crlf_is_joined_or_split(text: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(st.sampled_from([b"", b"\r", b"\n", b"\r\n", b"\n\r", b"a"]))
    doc = Document.from_text("file:///a", text).apply_edit(Edit(start, end, new), 2)
    assert list(doc.line_starts) == line_starts(doc.data) == list(Document.from_text("file:///a", doc.data).line_starts)


@many
@given(texts)
def test_the_line_of_an_offset_contains_the_offset(text: str) -> None:
    doc = make_document(text)
    for offset in range(len(doc.data) + 1):
        line = doc.line_of(offset)
        following = doc.line_starts[line + 1] if line + 1 < len(doc.line_starts) else len(doc.data) + 1
        assert doc.line_starts[line] <= offset < following


@many
@given(texts, texts)
def test_the_hash_is_of_the_content_alone(text: str, other: str) -> None:
    a = Document.from_text("file:///a", text, version=1)
    b = Document.from_text("file:///b", other, language="go", version=7)
    assert (a.hash == b.hash) is (text == other)


def test_a_document_has_the_line_end_of_its_first_line() -> None:
    assert [make_document(text).newline for text in ("", "a\nb\r\n", "a\r\nb\n", "a\rb")] == ["\n", "\n", "\r\n", "\r"]


def test_a_nul_near_the_start_makes_a_text_binary() -> None:
    assert [make_document(text).is_binary for text in ("a\0", "a", "x" * 9000 + "\0")] == [True, False, False]
