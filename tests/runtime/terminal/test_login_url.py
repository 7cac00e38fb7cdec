"""The address of a login is found, although the screen cuts it."""

from lsp_harness.runtime.terminal.terminal_signals import find_login_url

URL = (
    "https://auth.example.com/oauth/authorize?response_type=code&client_id=app_EMoamEEZ73f0CkXaXp7hrann&"
    "redirect_uri=http%3A%2F%2Flocalhost%3A1455%2Fauth%2Fcallback&scope=openid%20profile&state=Xy-12_3"
)


def wrap_url(url: str, width: int, before: str = "", after: str = "") -> list[str]:
    inner = width - len(before) - len(after)
    return [f"{before}{url[start : start + inner]:<{inner}}{after}".rstrip() for start in range(0, len(url), inner)]


def test_the_target_of_a_hyperlink_is_preferred():
    assert find_login_url(wrap_url(URL, 60), 60, ["https://docs.example.com", URL + "&whole=1"]) == URL + "&whole=1"
    assert find_login_url([], 60, ["https://docs.example.com/guide"]) == ""


def test_rows_that_fill_the_width_are_joined():
    rows = ["Open this address:", "", *wrap_url(URL, 60), "", "Paste the code here:"]
    assert find_login_url(rows, 60) == URL


def test_rows_in_a_frame_or_with_an_indent_are_joined():
    assert find_login_url(["╭────╮", *wrap_url(URL, 60, "│ ", " │"), "╰────╯"], 60) == URL
    assert find_login_url(wrap_url(URL, 60, "  "), 60) == URL


def test_the_address_is_completed_from_the_output():
    rows = wrap_url(URL, 60)[:2]
    raw = f"old https://a.b/login?old=1\r\n\x1b[1m{URL}\x1b[0m\r\nmore".encode()

    assert find_login_url(rows, 60, raw=raw) == URL
    assert find_login_url([], 60, raw=raw) == URL


def test_other_addresses_are_no_logins():
    assert find_login_url(["see https://example.com/docs for help"], 60, raw=b"https://example.com/docs") == ""


def test_the_end_of_a_sentence_is_not_part_of_the_address():
    assert find_login_url(["Visit (https://example.com/device)."], 60) == "https://example.com/device"
