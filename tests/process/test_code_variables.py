"""Tests of the variables that decide which code a program runs."""

import pytest

from lsp_harness.process.code_variables import chooses_code, is_credential, is_harmless

CHOOSING = (
    "PATH HOME SHELL BASH_ENV ENV IFS PS4 PROMPT_COMMAND ZDOTDIR FPATH NULLCMD LD_PRELOAD LD_LIBRARY_PATH "
    "DYLD_INSERT_LIBRARIES GCONV_PATH LOCPATH NLSPATH TERMINFO XDG_CONFIG_HOME CLAUDE_CONFIG_DIR CODEX_HOME "
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH OPENCODE_CONFIG ANTHROPIC_BASE_URL OPENAI_BASE_URL HTTPS_PROXY https_proxy "
    "ALL_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS LESSOPEN LESSCLOSE LESS EDITOR GIT_EDITOR VISUAL MANPAGER PAGER "
    "BROWSER GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_EXTERNAL_DIFF SSH_ASKPASS PYTHONSTARTUP PYTHONPATH PERL5OPT PERLLIB "
    "RUBYOPT NODE_OPTIONS npm_config_script_shell NPM_CONFIG_USERCONFIG CARGO_HOME CARGO_BUILD_RUSTC_WRAPPER "
    "RUSTC_WRAPPER RUSTC JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH GOFLAGS CC MAKEFLAGS LDFLAGS "
    "MAVEN_OPTS DOTNET_STARTUP_HOOKS KUBECONFIG DOCKER_HOST AWS_CONFIG_FILE CURL_HOME INPUTRC VIMINIT "
    "RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND LUA_INIT"
)


@pytest.mark.parametrize("name", CHOOSING.split())
def test_a_variable_that_chooses_code_is_known_and_never_harmless(name: str):
    assert (chooses_code(name), is_harmless(name), is_credential(name)) == (True, False, False)


@pytest.mark.parametrize("name", ["LANG", "LC_ALL", "TZ", "NO_COLOR", "CI", "PYTHONUNBUFFERED", "AWS_REGION"])
def test_a_harmless_variable_does_not_choose_code(name: str):
    assert (is_harmless(name), chooses_code(name)) == (True, False)


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN"])
def test_a_key_is_no_choice_of_code(name: str):
    assert (is_credential(name), chooses_code(name)) == (True, False)


@pytest.mark.parametrize("name", ["i", "file", "name", "RC", "SRC", "FLAGS", "OPT", "path", "count", "OUT_DIR", "FOO"])
def test_an_ordinary_variable_of_a_script_is_neither(name: str):
    assert (chooses_code(name), is_harmless(name), is_credential(name)) == (False, False, False)


@pytest.mark.parametrize("name", ["LANG\n", "LC_ALL=x", " LANG", "A_TOKEN\n", "é_TOKEN", ""])
def test_an_invalid_name_of_a_variable_has_no_category(name: str):
    assert (chooses_code(name), is_harmless(name), is_credential(name)) == (False, False, False)
