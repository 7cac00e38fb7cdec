"""The routes of the server itself: its health, the search of code, the login of browsers, and the kinds of agents."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, get_args

from starlette.responses import PlainTextResponse, RedirectResponse, Response

from lsp_harness.api import api_schemas as schemas
from lsp_harness.api.access.request_guard import COOKIE_NAME, LOGIN_PATH
from lsp_harness.api.api_errors import Unauthorized
from lsp_harness.api.api_route import ApiCall, ApiRoute, QueryField
from lsp_harness.api.browser_access import CODE_SECONDS
from lsp_harness.project.command_project import QuietOutput, open_project
from lsp_harness.project.project_search import ProjectQuery, search_code
from lsp_harness.runtime.adapter import AuthState
from lsp_harness.runtime.agent_spec import RUNNER_NAMES, TransportName
from lsp_harness.wire.version import VERSION

BAD_CODE = Unauthorized("the request has no valid token", "send the header Authorization: Bearer TOKEN")
"""The refusal of a wrong code. It tells no more than that of a request without a token."""
USED_LINK = """This link does not open the page: it works once, and within a minute.

For another one, write in a terminal:  lsp-harness agents page
"""
"""The sentence for a person in a browser, in place of that refusal."""


async def show_health(call: ApiCall) -> Any:
    """Return the health of the server."""
    context = call.context
    counts: dict[str, int] = {}
    for agent in context.pool.list():
        counts[agent.state.status] = counts.get(agent.state.status, 0) + 1
    limits = {
        "maxAgents": context.pool.limits.max_agents,
        "defaultTimeout": round(context.pool.limits.default_timeout_s * 1000),
    }
    roots_exist = all(root.is_dir() for root in context.roots)
    return {
        "healthy": roots_exist,
        "version": VERSION,
        "pid": os.getpid(),
        "agents": {"total": sum(counts.values()), "running": len(context.pool.running), **counts},
        "limits": limits,
        "roots": [str(root) for root in context.roots],
        "streams": context.open_streams,
        "lastEvent": context.pool.feed.last_seq,
    }


async def search(call: ApiCall) -> Any:
    """Return the code of a folder that fits some words."""
    folder = call.context.find_folder(call.query["folder"])
    project = open_project(folder, call.context.read_settings, QuietOutput())
    if not call.query["q"].strip():
        return {"hits": []}
    hits = await search_code(project, ProjectQuery(call.query["q"], call.query["limit"]))
    return {"hits": [asdict(one.hit) | {"doc": one.doc, "match": one.line, "text": one.text} for one in hits]}


async def create_login_link(call: ApiCall) -> Any:
    """Return a link with which a browser gets access once."""
    code = call.context.browsers.create_code()
    return {"url": f"{call.context.url}{LOGIN_PATH}?code={code}", "expires_in": int(CODE_SECONDS)}


async def open_page(call: ApiCall) -> Response:
    """Give a browser the cookie of the page, and send it there with a key."""
    browsers = call.context.browsers
    if not browsers.take_code(call.query["code"]):
        if call.accepts("text/html"):
            return PlainTextResponse(USED_LINK, 401)
        raise BAD_CODE
    answer = RedirectResponse(f"/#key={browsers.create_code()}", 303)
    answer.set_cookie(COOKIE_NAME, browsers.cookie, httponly=True, samesite="strict", path="/")
    return answer


async def exchange_key(call: ApiCall) -> Any:
    """Give a page its token for its key."""
    if not call.context.browsers.take_code(call.body.get("key", "")):
        raise BAD_CODE
    return {"token": call.context.browsers.create_token()}


SERVER_ROUTES: Sequence[ApiRoute] = (
    ApiRoute(
        "GET",
        "/health",
        "showHealth",
        "Show the health of the server and the number of its agents.",
        show_health,
        schemas.answer(
            healthy=schemas.flag("Whether its folders exist."),
            version=schemas.text(),
            pid=schemas.number(),
            agents=schemas.open_object("total, running, and the number of agents by status."),
            limits=schemas.open_object(),
            roots=schemas.list_of(schemas.text()),
            streams=schemas.number(),
            lastEvent=schemas.number(),
        ),
    ),
    ApiRoute(
        "GET",
        "/search",
        "searchCode",
        "Search the code of a folder.",
        search,
        schemas.answer(hits=schemas.list_of(schemas.refer("Hit"))),
        query=(
            QueryField("q", "string", "Words of a name, or words that say what the code does.", default=""),
            QueryField(
                "folder", "string", "The folder, in a root of the server. Default: the first root.", default="."
            ),
            QueryField("limit", "integer", "The largest number of results.", default=10, minimum=1, maximum=100),
        ),
        errors=("INVALID",),
    ),
    ApiRoute(
        "POST",
        "/login-links",
        "createLoginLink",
        "Create a link with which a browser gets access once.",
        create_login_link,
        schemas.answer(url=schemas.text(), expires_in=schemas.number("Seconds.")),
        body=schemas.body(),
        status=201,
    ),
    ApiRoute(
        "GET",
        LOGIN_PATH,
        "openPage",
        "Open the page with the code of a link. Needs no token.",
        open_page,
        schemas.text(),
        description="The answer sets a cookie that opens only the files of the page, and leads to /#key=KEY.",
        query=(QueryField("code", "string", "The code of the link.", default=""),),
        status=303,
        errors=("UNAUTHORIZED",),
    ),
    ApiRoute(
        "POST",
        LOGIN_PATH,
        "exchangeKey",
        "Exchange the key of a page for its token. Needs no token.",
        exchange_key,
        schemas.answer(
            token=schemas.text(
                "Send it as `Authorization: Bearer TOKEN`, or offer a WebSocket the subprotocols "
                "`lsp-harness` and `lsp-harness.bearer.TOKEN`."
            )
        ),
        body=schemas.body("key", key=schemas.text(maxLength=200)),
        errors=("UNAUTHORIZED",),
    ),
)
"""The routes of the server itself."""


async def list_kinds(call: ApiCall) -> Any:
    """Return the kinds of agents and the runners."""
    agents = call.context.agents
    kinds = await agents.probe()
    return {"kinds": kinds, "runners": await asyncio.to_thread(agents.pool.runners.describe)}


KIND = schemas.answer(
    type=schemas.text("The kind, for POST /agents."),
    transports=schemas.list_of(
        schemas.text(enum=[*get_args(TransportName)]), "How to talk with it, the default first."
    ),
    program=schemas.text("The path of its program."),
    isInstalled=schemas.flag(),
    version=schemas.text("As its program says it. Empty if it says none."),
    isRecorded=schemas.flag("Whether lsp-harness knows the screens of this version."),
    auth=schemas.text("Whether it has a login or a key.", enum=[*get_args(AuthState)]),
    hint=schemas.text("What to do before it can be used."),
)
RUNNER = schemas.answer(
    runner=schemas.text(enum=[*RUNNER_NAMES]),
    problem=schemas.text("Why it cannot be used. Empty if it can."),
    closesNetwork=schemas.flag("Whether it can keep an agent from the network."),
)
KIND_ROUTES: Sequence[ApiRoute] = (
    ApiRoute(
        "GET",
        "/runtime/kinds",
        "listKinds",
        "List the kinds of agents and the runners of this machine.",
        list_kinds,
        schemas.answer(kinds=schemas.list_of(KIND), runners=schemas.list_of(RUNNER)),
        description="Their own commands say it, without a prompt and without the network. It takes a second.",
        errors=("DENIED",),
    ),
)
"""The routes of the kinds of agents."""
