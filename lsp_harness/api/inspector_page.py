"""The files of the inspector: a page that shows sessions and agents in a browser (see docs/inspector.md).

The files hold nothing of the user. What the page shows, it reads from the routes, with a token.
"""

from collections.abc import Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from lsp_harness.api.api_errors import NotFound, make_error_answer

PAGE_FOLDER = Path(__file__).parent / "page"
INDEX_NAME = "index.html"
VENDOR_FOLDER = "vendor"
"""The folder with xterm.js, which `make xterm` copies from npm. Without it, the page shows the text of terminals."""
MEDIA_TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".LICENSE": "text/plain; charset=utf-8",
}
"""Ending of a file → its media type. Files with another ending are not served."""
PAGE_POLICY = (
    "default-src 'self'",
    # forms, frames and other addresses are no part of the page
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    # a text of an agent can never become markup, not even by a mistake in the page
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
"""The content security policy of the page, as a list of its rules."""


def find_page_files(folder: Path = PAGE_FOLDER) -> dict[str, Path]:
    """Return the files of the page by their names in addresses. Nothing else in the folder, or outside, is served."""
    found = [*folder.iterdir(), *(folder / VENDOR_FOLDER).glob("*")]
    return {str(file.relative_to(folder)): file for file in found if _is_served(file)}


def _is_served(file: Path) -> bool:
    return file.suffix in MEDIA_TYPES and file.is_file() and not file.is_symlink()


def list_inspector_routes(folder: Path = PAGE_FOLDER) -> list[BaseRoute]:
    """Return the routes of the page and its files."""

    async def serve(request: Request) -> Response:
        name = str(request.path_params.get("name", INDEX_NAME))
        # the names are read for each request, so that xterm.js can be added while the server runs
        file = find_page_files(folder).get(name)
        if file is None:
            return make_error_answer(NotFound("the page has no such file", "open / in a browser"))
        headers = {"content-security-policy": "; ".join(PAGE_POLICY), "cache-control": "no-cache"}
        return FileResponse(file, media_type=MEDIA_TYPES[file.suffix], headers=headers)

    return [Route("/", serve, methods=["GET"]), Route("/inspector/{name:path}", serve, methods=["GET"])]
