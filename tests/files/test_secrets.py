"""Secrets, which never enter a prompt.

The tokens here are invented. They are built from parts, so that no scanner takes them for real ones.
"""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from lsp_harness.config.schema import Completion
from lsp_harness.context.infill_prompt import build_infill_prompt, build_prompt_ladder
from lsp_harness.errors import NoAnswer
from lsp_harness.files.secret_values import find_secret_values, hide_variables
from lsp_harness.files.secrets import find_secret_lines, find_secrets, is_secret_path, may_contain_secret, redact
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from tests.context.counting import count_words
from tests.support import markup

TOKEN = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE" + " KEY-----"


@pytest.mark.parametrize(
    "path",
    [
        *(".env", "app/.env.local", "prod.env", "tls/server.pem", "server.KEY", "a.pfx", "id_rsa", "id_ed25519.pub"),
        *("home/.ssh/config", ".aws/config", "credentials", "credentials.json", "client_secret_1.json", "secrets.yaml"),
        *(".env.dist.local", ".ssh/config.example"),
        *("k8s-secrets.yml", ".npmrc", ".netrc", "terraform.tfvars", "x.auto.tfvars.json", "C:\\keys\\site.key"),
    ],
)
def test_files_that_are_secret_by_name(path: str) -> None:
    assert is_secret_path(path)


@pytest.mark.parametrize(
    "path",
    [
        *("a.py", "secrets.py", "credentials.go", "environment.ts", "keyboard.c", "monkey.md", "untitled:1", ""),
        *(".env.example", "app/.env.sample", ".env.local.template", "secrets.yaml.dist", "credentials.json.EXAMPLE"),
    ],
)
def test_files_that_are_not(path: str) -> None:
    assert not is_secret_path(path)


@pytest.mark.parametrize(
    "text",
    [
        *(TOKEN, "AKIA" + "ABCDEFGH" * 2, "github_pat_" + "a" * 22, "glpat-" + "a" * 20, "xoxb-" + "1" * 12),
        *(
            "rk_live_" + "a" * 20,
            "sk_live_" + "a" * 20,
            "AIza" + "b" * 35,
            "sk-proj-" + "c" * 32,
            "npm_" + "d" * 36,
            "pypi-" + "e" * 50,
        ),
        *("hf_" + "f" * 30, "SG." + "g" * 22 + "." + "h" * 43, "eyJ" + "i" * 12 + ".eyJ" + "j" * 12 + "." + "k" * 12),
        "postgres://me:hunter" + "2@db/x",
        # the header of a token that carries its key
        "eyJ" + "i" * 3000 + ".eyJ" + "j" * 12 + "." + "k" * 12,
    ],
)
def test_lines_that_hold_a_secret(text: str) -> None:
    assert find_secret_lines(Document.from_text("file:///a.py", f"x = 1\ny = '{text}'\nz = 2\n")) == {1}


@pytest.mark.parametrize(
    "text",
    ["password = 'hunter2'", "AKIA", "https://host:8080/a@b", "git@github.com:a/b", "://{user}:{password}@{host}/"],
)
def test_lines_that_only_resemble_a_secret_are_allowed(text: str) -> None:
    assert not find_secret_lines(Document.from_text("file:///a.py", text))


@pytest.mark.parametrize(
    "text", [f"https://u:{TOKEN}@hé", "sk-" + "a" * 20 + "-sk-" + "b" * 40 + "é", f"{KEY}{TOKEN} é"]
)
def test_forms_within_one_another_are_one(text: str) -> None:
    data = f"é {text} after".encode()
    [(start, end)] = find_secrets(data)
    assert "é" in (data[:start] + data[end:]).decode()


@pytest.mark.parametrize("text", ["sk-" + "a1" * 60, TOKEN + "b" * 20, "github_pat_" + "a" * 82, "glpat-" + "a-" * 30])
def test_a_token_that_is_longer_than_usual_is_hidden_completely(text: str) -> None:
    assert find_secrets(f"k = '{text}'".encode()) == [(5, 5 + len(text))]


def test_nested_tokens_are_found_in_linear_time() -> None:
    """With a slower search, this test would take minutes."""
    text = b"sk-" * 200_000
    assert find_secrets(text) == [(0, len(text))]


def test_a_text_that_only_begins_like_a_secret_hides_no_later_one() -> None:
    text = f"sk-learn ghp_ ghp_short {TOKEN[4:]}\nghp_{TOKEN}\n" * 3 + f"xghp_ {TOKEN}\nlast\n"
    assert find_secret_lines(Document.from_text("file:///a.py", text)) == {1, 3, 5, 6}


def test_a_private_key_covers_all_its_lines_even_without_an_end() -> None:
    assert find_secret_lines(Document.from_text("file:///a.py", f"a\nk = '''{KEY}'''\nb\n")) == {1, 2, 3, 4}
    assert find_secret_lines(Document.from_text("file:///a.py", "a\n" + KEY[:40] + "\nb")) == {1, 2, 3, 4}


async def read_prompt(source: str) -> str:
    src = markup.parse(source)
    return (
        await build_infill_prompt(
            Cursor(src.document, parse(src.document), src.cursor, "a.py"), Completion(), count_words
        )
    ).render()


async def test_a_window_ends_before_a_secret() -> None:
    source = f"a = 1\nb = '{TOKEN}'\nc = 3\nd = <|>\ne = 5\nf = '{TOKEN}'\ng = 7\n"
    assert await read_prompt(source) == "# a.py\na = 1\ng = 7\nc = 3\nd = <FILL>\ne = 5\n"
    prompt = await read_prompt(f"d = <|>\n{KEY}\n")
    assert prompt.endswith("d = <FILL>\n")
    assert "KEY" not in prompt


async def test_an_outline_leaves_a_secret_out() -> None:
    far = "".join(f"def f{n}():\n    return {n}\n" for n in range(60))
    prompt = await read_prompt(f"import os\nKEY = '{TOKEN}'\nOTHER = 1\n{far}x = <|>\n")
    assert "import os\nOTHER = 1\ndef f0(): ...\n" in prompt
    assert TOKEN not in prompt


async def test_a_line_with_a_secret_is_not_sent_to_the_model() -> None:
    with pytest.raises(NoAnswer, match="contains what looks like a secret"):
        await read_prompt(f"a = '{TOKEN}'<|>\n")
    src = markup.parse(f"a = '{TOKEN}'<|>\n")
    with pytest.raises(NoAnswer):
        await build_prompt_ladder(Cursor(src.document, None, src.cursor, "a.py"), Completion(), 50, count_words)


def test_an_ellipsis_replaces_a_secret_in_a_message() -> None:
    assert redact(f"a {TOKEN} b") == "a … b"
    assert redact(f"x\n{KEY}\ny") == "x\n…\ny"
    assert redact("nothing é \ud800") == "nothing é \ud800"


def test_the_end_of_a_key_in_a_diff_is_one_too() -> None:
    diff = "@@ -9,4 +9,4 @@\n MIIEowIBAAKCAQEA\n abcdefgh/+==\n -----END RSA PRIVATE" + " KEY-----\n-x = 1\n+x = 2\n"
    assert redact(diff) == "@@ -9,4 +9,4 @@\n…\n-x = 1\n+x = 2\n"


PUBLISHED = (
    *(("gsk_", "aB3", 52), ("xai-", "aB3", 80), ("nvapi-", "aB_-3", 64), ("pplx-", "aB3", 48), ("dop_v1_", "a3", 64)),
    *(("dckr_pat_", "aB_-3", 27), ("sk_test_", "aB3", 24), ("rk_test_", "aB3", 24), ("whsec_", "aB3", 32)),
    *(("lin_api_", "aB3", 40), ("glptt-", "a3", 40), ("glrt-", "aB_-3", 20), ("shpat_", "a3", 32), ("ntn_", "aB3", 46)),
    *(("dapi", "a3", 32), ("hvs.", "aB_-3", 90), ("dp.pt.", "aB3", 43), ("NRAK-", "AB3", 27), ("figd_", "aB_-3", 43)),
    *(("key-", "a3", 32), ("SK", "a3", 32), ("pul-", "a3", 40), ("rubygems_", "a3", 48), ("sntryu_", "a3", 64)),
    *(
        ("xkeysib-", "a3", 64),
        ("sq0atp-", "aB_-3", 22),
        ("r8_", "aB3", 37),
        ("nfp_", "aB3", 36),
        ("tgp_v1_", "aB_3", 43),
    ),
    *(
        ("sbp_", "a3", 40),
        ("tskey-auth-", "aB3", 24),
        ("tvly-dev-", "aB3", 32),
        ("pnu_", "aB3", 36),
        ("ATATT3", "aB_-3", 186),
    ),
    *(("GOCSPX-", "aB_-3", 28), ("LTAI", "aB3", 20), ("AQVN", "aB_-3", 36), ("rdme_", "a3", 70), ("EZAK", "aB3", 54)),
    *(("aio_", "aB3", 28), ("e2b_", "a3", 40), ("pcsk_", "aB_3", 70), ("rnd_", "aB3", 28), ("fw_", "aB3", 24)),
    *(
        ("squ_", "a3", 40),
        ("API-", "AB3", 26),
        ("AGE-SECRET-KEY-1", "QPZ", 58),
        ("4b1d", "aB3", 38),
        ("nk-", "aB_-3", 43),
    ),
    *(("EAAC", "aB3", 100), ("key_", "a3", 64), ("esecret_", "aB3", 40), ("1//0", "aB_-3", 60), ("tr_dev_", "aB3", 20)),
    *(("secret-live-", "aB_-3", 36), ("glffct-", "aB_-3", 20), ("sm_pat_", "aB3", 16)),
    *(("ATBB", "aB3", 32), ("CLOJARS_", "a3", 60), ("tfp_", "aB_-3", 59), ("napi_", "a3", 64), ("csk-", "a3", 48)),
)
"""The beginnings of tokens as their vendors publish them, the characters that follow, and their number."""


@pytest.mark.parametrize(("start", "signs", "count"), PUBLISHED, ids=[start for start, _, _ in PUBLISHED])
def test_the_tokens_of_vendors_are_found(start: str, signs: str, count: int):
    token = start + (signs * count)[:count]
    assert redact(f"k = '{token}'\n") == "k = '…'\n"
    assert redact(f"k = 'x{token}'") == f"k = 'x{token}'"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bot 8668672482:AAqD8g66n6" + "a_-3" * 6 + "a", "bot 8668672482…"),
        ("https://discord.com/api/webhooks/779940987248282565/" + "aB_-" * 17, "https://…"),
        ("https://acme.webhook.office.com/webhookb2/" + "a3" * 18, "https://acme.…"),
        ("AccountKey=" + "aB3+" * 21 + "aB==;End", "…;End"),
        ("SharedAccessKey=" + "aB3/" * 10 + "aB3=;End", "…;End"),
        ("access-production-" + "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f", "…"),
        ("sdk-" + "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f", "…"),
        ("pat." + "aB3_" * 5 + "aB." + "a3" * 12 + "." + "aB3x" * 5, "…"),
    ],
)
def test_tokens_that_have_parts_are_found(text: str, shown: str):
    assert redact(text) == shown


def test_names_that_begin_like_tokens_are_not_hidden():
    text = (
        "key-value sk-learn SKU re_match secret_name pat_x dapi_client token_forms t1.x r8_x napi_env fc-cache v1.0-rc1"
    )
    assert redact(text) == text


VALUE = "p4ss'w\"ord$ö/<&>`+\\x\nend"
FORMS = {
    "declare -p": 'declare -x K="p4ss\'w\\"ord\\$ö/<&>\\`+\\\\x\nend"',
    "dollar quotes": "$'p4ss\\'w\"ord$ö/<&>`+\\\\x\\nend'",
    "single quotes": "'p4ss'\\''w\"ord$ö/<&>`+\\x\nend'",
    "JSON": json.dumps({"k": VALUE}),
    "JSON with all letters": json.dumps({"k": VALUE}, ensure_ascii=False),
    "Python": repr({"k": VALUE}),
    "HTML": f"<b>{html.escape(VALUE)}</b>",
    "URL": f"http://h/?k={quote(VALUE, safe='')}&x=1",
    "path": quote(VALUE),
    "form": f"k={quote_plus(VALUE)}",
    "hex": VALUE.encode().hex(),
    "upper hex": VALUE.encode().hex().upper(),
    **{f"base64 after {n}": base64.b64encode(("x" * n + VALUE + " more").encode()).decode() for n in range(4)},
    **{f"URL base64 after {n}": base64.urlsafe_b64encode(("x" * n + VALUE).encode()).decode() for n in range(4)},
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_the_value_of_a_variable_is_hidden_in_each_of_its_forms(text: str):
    with hide_variables({"MY_KEY": VALUE}):
        shown = redact(text)
        assert may_contain_secret(json.dumps(text))
    assert "…" in shown
    # of base64, the signs that stand for neighbours, too, may stay
    assert len(shown) <= len(text) - len(VALUE)


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("PGPASS", "v4lue-of-it", "v4lue-of-it"),
        ("SERVICE_CONNECTION_STRING", "Server=h;Pwd=x1", "Server=h;Pwd=x1"),
        ("Authorization", "Bearer v4lue-of-it", "v4lue-of-it"),
        ("X-Api-Key", "v4lue-of-it", "v4lue-of-it"),
        ("CI_JWT", "v4lue-of-it", "v4lue-of-it"),
        ("RUFF_BYPASS", "v4lue-of-it", ""),
    ],
)
def test_a_variable_with_a_telling_name_has_a_secret_value(name: str, value: str, hidden: str):
    assert "".join(find_secret_values({name: value})) == hidden


def test_values_of_secret_variables_are_hidden_while_they_are_registered():
    variables = {
        "MY_API_KEY": "v4lue that\nnobody",
        "DB_PASSWORD": 'quo"te',
        "HOME": "/somewhere-else",
        "TOKEN_LIMIT": "100000",
    }
    text = 'a v4lue that\nnobody b quo"te c /somewhere-else 100000'
    with hide_variables(variables), hide_variables({"MY_API_KEY": "v4lue that\nnobody"}):
        assert redact(text) == "a … b … c /somewhere-else 100000"
        assert may_contain_secret(json.dumps([text[:20]]))
        assert may_contain_secret(json.dumps([text[20:]]))
    assert redact(text) == text
    assert not may_contain_secret(text)
