"""The prompt of a client of the Agent Client Protocol as one text, and the files that it names."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp.schema import EmbeddedResourceContentBlock, ResourceContentBlock, TextContentBlock, TextResourceContents

from lsp_harness.files.folders import resolve_links
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.files.secrets import redact
from lsp_harness.text.uri import local_path
from lsp_harness.text.wording import fence_code

MAX_RESOURCE_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt.

    Attributes:
        text: The text for the model.
        files: The files of the folder that the prompt names.
        left_out: What the model does not see, as sentences for the user.
    """

    text: str
    files: tuple[Path, ...]
    left_out: tuple[str, ...]


def read_prompt(blocks: Sequence[Any], root: Path, *, has_contents: bool) -> PromptText:
    """Return the text of the blocks of a prompt. No private file gets into it.

    Args:
        blocks: The blocks.
        root: The folder of the session.
        has_contents: Whether embedded texts are a part of the text. A driver that finds the code itself needs none.
    """
    private = PrivateFiles([root])
    texts: list[str] = []
    contents: list[str] = []
    files: list[Path] = []
    left_out: list[str] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                texts.append(block.text)
            case ResourceContentBlock(uri=uri) | EmbeddedResourceContentBlock(resource=TextResourceContents(uri=uri)):
                file = _file_in(root, uri)
                if file and (reason := private.reason(file.as_uri())):
                    left_out.append(f"{file.name} is left out: it is {reason}")
                    continue
                name = file.relative_to(resolve_links(root)).as_posix() if file else uri
                files += [file] if file else []
                texts.append(f"@{name}" if file else name)
                if has_contents and isinstance(block, EmbeddedResourceContentBlock):
                    contents.append("\n".join(["", "", f"{name}:", *_fence(block.resource)]))
            case _:
                left_out.append(f"a part of the prompt of the kind {block.type!r} is left out: only texts can be read")
    return PromptText("".join(_join(texts)) + "".join(contents), tuple(files), tuple(left_out))


def _file_in(root: Path, uri: str) -> Path | None:
    """Return the file of a URI if it is in a folder, without links."""
    file = local_path(uri) if uri.startswith("file:") else None
    resolved = resolve_links(file) if file else None
    return resolved if resolved and resolved.is_relative_to(resolve_links(root)) else None


def _fence(resource: Any) -> list[str]:
    text = redact(resource.text)
    return list(fence_code(text[:MAX_RESOURCE_CHARS], ""))


def _join(texts: Sequence[str]) -> list[str]:
    """Return the texts with a space between two that would be one word together."""
    joined: list[str] = []
    for text in texts:
        if joined and text and not joined[-1][-1:].isspace() and not text[:1].isspace():
            joined.append(" ")
        joined.append(text)
    return joined
