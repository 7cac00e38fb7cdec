"""Settings with which git starts no program that a repository names.

A repository can name programs in `.git/config` and the files that it includes: filters, hooks, a file monitor, programs
for differences, signatures, logins and remote machines. Some have a fixed name, and an option turns them off. Others
have a name of their own, such as `filter.NAME.clean`, so the settings are listed first, and each such key of the
repository gets the value of the user's own settings, or none. git-lfs works on, if the user has set it up.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

SAFE_SETTINGS: Mapping[str, str] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "core.askPass": "true",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "credential.helper": "",
    "interactive.diffFilter": "",
    "sequence.editor": "true",
    "gc.auto": "0",
    "maintenance.auto": "false",
    # a signature is checked by a program
    "log.showSignature": "false",
    "commit.gpgSign": "false",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    # what is missing is not fetched, and nothing is done in another repository
    "protocol.allow": "never",
    "submodule.recurse": "false",
}
"""Key → value, for the keys that can be named in advance."""
SAFE_VARIABLES: Mapping[str, str] = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # `protocol.allow` counts only for protocols that the repository does not allow by name
    "GIT_ALLOW_PROTOCOL": "none",
}
"""Variables of each run."""
HOMELESS_VARIABLES: Mapping[str, str] = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}
"""Variables for git where it cannot read the home of the user. A file that it may not open is an error for it."""
SAFE_OPTIONS: Sequence[str] = (
    *(word for key, value in SAFE_SETTINGS.items() for word in ("-c", f"{key}={value}")),
    "--no-pager",
)
"""Options before the command of git."""
SAFE_DIFF_OPTIONS: Sequence[str] = ("--no-ext-diff", "--no-textconv")
"""Options of `diff`, `log`, `show` and `blame`, in place of which git would ask programs for the differences."""
LISTING: Sequence[str] = ("config", "--list", "--show-scope", "--null")
"""The command of git whose output `read_overrides` reads. It starts no program. Where it fails, nothing is known about
the repository, and no other command should run."""
USER_SCOPES = frozenset({"system", "global", "command"})
"""Origins of settings that belong to the user and this process. The others belong to the repository."""
PROGRAM_KEYS = re.compile(
    r"(filter\..*\.(clean|smudge|process|required)|diff\.(.*\.)?(command|textconv|external)|merge\..*\.driver"
    r"|hook\..*|core\.(alternaterefscommand|sshcommand|gitproxy|askpass|editor|pager|fsmonitor|hookspath)"
    r"|gpg\.(.*\.)?(program|defaultkeycommand)|credential\.(.*\.)?helper|remote\..*\.(uploadpack|receivepack|vcs|proxy)"
    r"|trailer\..*\.(command|cmd)|tar\..*\.command|(difftool|mergetool|man|browser|guitool)\..*\.(cmd|path)"
    r"|(gc\.recentobjectshook|uploadpack\.packobjectshook|interactive\.difffilter|sequence\.editor|diff\.external)"
    r"|pager\..*|alias\..*|submodule\..*\.update|sendemail\..*)",
    re.DOTALL,
)
"""Keys, in the form in which git lists them, whose values are programs or decide about programs."""
KEPT_USER_KEYS = re.compile(
    r"user\.(name|email)|safe\.directory|core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode|quotepath|abbrev)"
    r"|log\.(date|decorate|follow|abbrevcommit)|diff\.(algorithm|renames|context|mnemonicprefix|noprefix)"
    r"|status\.(short|branch|showuntrackedfiles|relativepaths)|(branch|tag)\.sort"
)
"""Keys of the user that name no program and no file, in the form in which git lists them."""
HARMLESS_VALUES: Mapping[str, str] = {
    "filter.*.required": "false",
    "diff.*.textconv": "cat",
    "submodule.*.update": "none",
    "core.fsmonitor": "false",
    "core.hookspath": "/dev/null",
    "core.sshcommand": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "core.askpass": "true",
    "sequence.editor": "true",
    "pager.*": "false",
    "gpg.program": "false",
    "gpg.*.program": "false",
}
"""Form of a key → the value that starts no program, where an empty one does not do."""


def read_overrides(listing: bytes) -> dict[str, str]:
    """Return key → value for the settings of a repository that name programs, so that none of them is started.

    Args:
        listing: The output of `LISTING`.
    """
    named, users = list[str](), dict[str, str]()
    for scope, key, value in _read_listing(listing):
        if not PROGRAM_KEYS.fullmatch(key):
            continue
        if scope in USER_SCOPES:
            users[key] = value
        else:
            named.append(key)
    overrides = dict[str, str]()
    for key in named:
        if key.startswith("hook."):
            # a hook with a name of its own is turned off as a whole, because it may have several events
            overrides[f"{key.rpartition('.')[0]}.enabled"] = "false"
        else:
            overrides[key] = users.get(key, _harmless_value(key))
    return overrides


def read_user_settings(listing: bytes) -> list[tuple[str, str]]:
    """Return the settings of the user that git needs where it cannot read the home of the user.

    Args:
        listing: The output of `LISTING`.
    """
    entries = _read_listing(listing)
    return [(key, value) for scope, key, value in entries if scope in USER_SCOPES and KEPT_USER_KEYS.fullmatch(key)]


def find_user_ignores(listing: bytes, environment: Mapping[str, str]) -> Path | None:
    """Return the file with the patterns of files that the user ignores in all repositories, if there is one.

    Args:
        listing: The output of `LISTING`.
        environment: The environment of git.
    """
    entries = _read_listing(listing)
    named = [value for scope, key, value in entries if scope in USER_SCOPES and key == "core.excludesfile"]
    home = environment.get("HOME", "")
    settings = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    text = named[-1] if named else f"{settings}/git/ignore"
    path = Path(home + text[1:] if text.startswith("~/") else text)
    return path if path.is_absolute() and path.is_file() else None


def _read_listing(listing: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield the origin, the key and the value of each setting in an output of `LISTING`."""
    fields = listing.decode("utf-8", "surrogateescape").split("\0")
    for scope, entry in zip(fields[0::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        yield scope, key, value


def _harmless_value(key: str) -> str:
    section, _, rest = key.partition(".")
    name = rest.rpartition(".")[2]
    forms = (key, f"{section}.*.{name}", f"{section}.*")
    return next((HARMLESS_VALUES[form] for form in forms if form in HARMLESS_VALUES), "")


def override_variables(settings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the variables that give settings to git. Unlike options, they can have any sign in their keys.

    Args:
        settings: Keys with their values. Of a key with one value, the last one counts.
    """
    pairs = list(settings)
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def safe_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables of git, which could name programs and other repositories."""
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return {**kept, **SAFE_VARIABLES, "LC_ALL": "C"}
