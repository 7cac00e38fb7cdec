"""Variables of the environment that decide which code a program runs, and those that are known to decide nothing.

The first list can never be complete, because each program may read what it likes. Where somebody else gives a variable
to a program, as a client to an agent, only `is_harmless` and `is_credential` say yes, and a name that nobody knows is
refused. `chooses_code` is for the variables of a script, where a question about each name would be one too many.
"""

import re
from collections.abc import Mapping

HARMLESS_VARIABLES: Mapping[str, str] = {
    "language, clock, and the looks of an output": "LANG LC_* TZ TERM COLORTERM COLORFGBG COLUMNS LINES "
    "NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CARGO_TERM_COLOR PY_COLORS CI DEBUG VERBOSE",
    "modes that a program knows by a word": "NODE_ENV DJANGO_DEBUG FLASK_ENV RAILS_ENV SEED SOURCE_DATE_EPOCH "
    "PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED PYTHONUTF8 PYTHONIOENCODING RUST_BACKTRACE RUST_LOG "
    "OMP_NUM_THREADS OMP_WAIT_POLICY",
    "models, and places of a service": "ANTHROPIC_MODEL OPENAI_MODEL GEMINI_MODEL AWS_REGION AWS_DEFAULT_REGION "
    "GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION",
}
"""Subject → variables that change no program that runs. `*` is any ending."""

CREDENTIAL_ENDINGS = ("_API_KEY", "_TOKEN", "_PASSWORD", "_SECRET", "_ACCESS_KEY", "_ACCESS_KEY_ID")
"""Endings of variables that hold a key and nothing else."""

CODE_VARIABLES: Mapping[str, str] = {
    "every program: what it shows": "TEXTDOMAIN* LANGUAGE",
    "every program: what it loads": "LD_* DYLD_* GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES MALLOC_* OPENSSL_* "
    "SSL_CERT_* SSLKEYLOGFILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE HOSTALIASES RES_OPTIONS LOCALDOMAIN TERMINFO "
    "TERMINFO_DIRS TERMCAP QT_* GTK_* GIO_* XDG_* DBUS_* DISPLAY XAUTHORITY WAYLAND_DISPLAY KRB5_* SASL_PATH LDAP* "
    "TMPDIR",
    "shells": "PATH HOME SHELL SHELLOPTS BASHOPTS BASH_* ENV IFS PS[0-4] PROMPT_COMMAND PROMPT RPROMPT CDPATH FPATH "
    "MANPATH MAILPATH GLOBIGNORE ZDOTDIR FCEDIT HISTFILE INPUTRC NULLCMD READNULLCMD UID EUID PWD OLDPWD EXECIGNORE "
    "FIGNORE POSIXLY_CORRECT GLOBSORT fish_*",
    "programs that show and edit": "LESS* MORE MANOPT BAT_* GREP_* RIPGREP_* FZF_* EXINIT VIM VIMINIT VIMRUNTIME "
    "MYVIMRC NVIM* VISUAL LS_OPTIONS SCREENRC TMUX TMUX_* STARSHIP_* DIRENV_* MISE_* ASDF_*",
    "git, and what it starts": "GIT_* GCM_* SSH_* GNUPGHOME GPG_* SVN_* HG* JJ_* GH_* GLAB_*",
    "Python": "PYTHON* PIP_* PIPX_* UV_* POETRY_* PDM_* CONDA_* VIRTUAL_ENV PYTEST_* COVERAGE_* TOX_* NOX* PYENV_* "
    "IPYTHON* JUPYTER_* MYPY* RUFF_* DJANGO_SETTINGS_MODULE FLASK_APP",
    "JavaScript": "NODE_* npm_* NPM_* YARN_* PNPM_* BUN_* DENO_* NVM_* VOLTA_* COREPACK_* ELECTRON_* TS_NODE_*",
    "Perl, Ruby, PHP, Lua, R, Tcl, Julia": "PERL* RUBY* GEM_* BUNDLE_* RBENV_* PHP* COMPOSER_* LUA_* R_* TCL* JULIA_*",
    "Rust, Go": "CARGO CARGO_* RUST* GOPATH GOROOT GOBIN GOFLAGS GOENV GOPROXY GOSUMDB GONOSUM* GONOPROXY GOPRIVATE "
    "GOINSECURE GOTOOLCHAIN GOTOOLDIR GOWORK GOMODCACHE GOCACHE GOAUTH GOVCS CGO_*",
    "C, and building": "CC CPP CXX AR AS LD RANLIB STRIP MAKE MAKEFILES MFLAGS CPATH GCC_* COMPILER_PATH LIBRARY_PATH "
    "CMAKE_* CTEST_* NINJA_* PKG_CONFIG* CONFIG_SITE CONFIG_SHELL CCACHE_* DISTCC_* BAZEL* MESON_*",
    "Java and .NET": "JAVA_* _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_* MVN_* GRADLE_* ANT_* SBT_* KOTLIN_* "
    "SCALA_* DOTNET_* CORECLR_* COR_* COMPLUS_* NUGET_* MSBUILD* ERL_* ELIXIR_* MIX_*",
    "machines and services": "DOCKER_* BUILDKIT_* PODMAN_* CONTAINER_HOST CONTAINERS_* KUBE* HELM_* TF_* TERRAGRUNT_* "
    "ANSIBLE_* VAGRANT_* AWS_* AZURE_* GOOGLE_* CLOUDSDK_* GCLOUD_* VAULT_* SUDO_* CURL_HOME WGETRC NETRC PG[A-Z]* "
    "PSQL* MYSQL_*",
    "agents": "CLAUDE* ANTHROPIC_* CODEX_* OPENAI_* GEMINI_* OPENCODE_* MCP_* LSP_HARNESS_* OLLAMA_* AIDER_* CURSOR_* "
    "COPILOT_* QWEN_* GROK_* MISTRAL_* OPENROUTER_*",
    # names that many programs make in the same way
    "endings": "*LIBPATH *_LIBRARY_PATH *_LOAD_PATH *_MODULE_PATH *_PLUGIN_PATH *_CONFIG_PATH *_DRIVER_PATH "
    "*_DRIVERS_PATH *EDITOR *PAGER *BROWSER *_SHELL *ASKPASS *PROXY *_proxy [A-Z]*FLAGS *_OPTS *_OPTIONS *_RC "
    "*_COMMAND *_CMD *_PRELOAD *_HOOK *_HOOKS *_PLUGIN *_PLUGINS *_WRAPPER *_LAUNCHER *_EXEC *_EXECUTABLE *_CONFIG "
    "*_CONFIG_FILE *_CONFIG_DIR *_CONFIG_HOME *_CONFIG_CONTENT *_CONF *_HOME *_INIT *_STARTUP *_BASE_URL *_API_BASE "
    "*_ENDPOINT *_CA_BUNDLE *_CA_FILE",
}
"""The readers of variables → those that decide which code runs: a program, a folder of settings with commands in it, a
file that is loaded, or the machine that answers. `*` is anything, and `[…]` one of some characters."""


def _compile(table: Mapping[str, str]) -> re.Pattern[str]:
    words = " ".join(table.values()).replace("*", r"\w*").split()
    return re.compile("|".join(words))


_HARMLESS, _CODE = _compile(HARMLESS_VARIABLES), _compile(CODE_VARIABLES)


def is_harmless(name: str) -> bool:
    """Return whether a variable is known to change no program that runs."""
    return _HARMLESS.fullmatch(name) is not None


def is_credential(name: str) -> bool:
    """Return whether a variable is a key of a service by its name, so that it can open a login, but start nothing."""
    # the keys of lsp-harness open its own doors
    return re.fullmatch(r"(?!LSP_HARNESS_)[A-Z][A-Z0-9_]*", name) is not None and name.endswith(CREDENTIAL_ENDINGS)


def chooses_code(name: str) -> bool:
    """Return whether a variable is known to decide which code a program runs. False says only that nobody knows it."""
    return not is_harmless(name) and not is_credential(name) and _CODE.fullmatch(name) is not None
