"""The programs that run tests, found by the files of a project on a machine with fake tools."""

import json
import sys
from pathlib import Path, PurePosixPath

import pytest

from lsp_harness.verify.digest.node_test import EVENTS_REPORTER
from lsp_harness.verify.project_tests.runner_registry import find_runner
from lsp_harness.verify.project_tests.suite_runner import Selection, SuiteRunner

CHOSEN_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "UV_PROJECT_ENVIRONMENT", "CARGO_HOME")
PYTEST_TABLE = "[tool.pytest.ini_options]\n"
UNITTEST = "import unittest\n\n\nclass TestA(unittest.TestCase):\n    pass\n"


class Machine:
    """A project folder, and a Python without packages as the only program on PATH."""

    def __init__(self, folder: Path) -> None:
        self.root, self.programs = folder / "project", folder / "machine" / "bin"
        self.root.mkdir()
        self.programs.mkdir(parents=True)
        self.install("python3")

    def install(self, name: str, folder: Path | None = None) -> Path:
        """Make a fake program."""
        program = (folder or self.programs) / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        return program

    def install_node(self, name: str, package: str = "") -> Path:
        """Make a fake program in `node_modules` of a package."""
        return self.install(name, self.root / package / "node_modules" / ".bin")

    def make_environment(self, *packages: str, folder: str = ".venv") -> Path:
        """Make an environment with fake packages, and return its interpreter."""
        environment = self.root / folder
        for package in packages:
            (environment / "lib" / "python3.11" / "site-packages" / package).mkdir(parents=True)
        environment.mkdir(parents=True, exist_ok=True)
        (environment / "pyvenv.cfg").write_text("home = /usr/bin\n")
        return self.install("python", environment / "bin")

    def put(self, name: str, text: str = "") -> None:
        """Write a file of the project."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def find(self, path: str) -> SuiteRunner:
        """Return the program for a file, which must have one."""
        found = find_runner(self.root, path)
        assert found is not None
        return found

    def command(self, runner: SuiteRunner, *files: str, failures: int = 0) -> list[str]:
        return runner.command(Selection(files, Path("/scratch/report.xml"), failures))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    for name in CHOSEN_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(made.programs))
    # the Python of these tests has pytest
    monkeypatch.setattr(sys, "executable", str(made.programs / "python3"))
    for name in ("prefix", "base_prefix"):
        monkeypatch.setattr(sys, name, str(made.programs.parent))
    return made


# -- Python
@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("pytest.ini", "", "pytest.ini"),
        ("pytest.ini", "[pytest]\naddopts = -q\n", "pytest.ini"),
        (".pytest.ini", "[pytest]\n", ".pytest.ini"),
        ("conftest.py", "", "conftest.py"),
        ("tests/conftest.py", "", "tests/conftest.py"),
        ("setup.cfg", "[tool:pytest]\ntestpaths = checks\n", "settings of pytest"),
        ("tox.ini", "[tox]\nenvlist = py\n\n[pytest]\naddopts = -q\n", "settings of pytest"),
        ("pyproject.toml", PYTEST_TABLE + "testpaths = ['checks']\n", "pyproject.toml"),
        ("pyproject.toml", "[tool.pytest]\naddopts = ['-q', '-x']\n", "pyproject.toml"),
        ("pyproject.toml", "[dependency-groups]\ntest = ['pytest>=8']\n", "pyproject.toml"),
        ("tests/test_a.py", "", "tests/test_a.py"),
        ("package/tests/unit/test_a.py", "", "package/tests/unit/test_a.py"),
        ("test/a_test.py", "", "test/a_test.py"),
        ("test_a.py", "", "test_a.py"),
    ],
)
def test_pytest_is_found_by_a_file(name: str, text: str, reason: str, machine: Machine) -> None:
    python = machine.make_environment("pytest")
    machine.put(name, text)
    runner = machine.find("pkg/mod.py")
    assert (runner.name, runner.reason, runner.python, runner.folder) == ("pytest", reason, python, PurePosixPath())
    command = machine.command(runner, "tests/test_a.py", failures=3)
    assert command[:3] == [str(python), "-m", "pytest"]
    assert command[-2:] == ["--maxfail=3", "tests/test_a.py"]
    assert "--junitxml=/scratch/report.xml" in command


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", "pyproject.toml"])
def test_settings_of_other_tools_are_no_settings_of_pytest(name: str, machine: Machine) -> None:
    machine.make_environment("pytest")
    machine.put(name, "[metadata]\nname = 'a'\n")
    assert find_runner(machine.root, "mod.py") is None


@pytest.mark.parametrize("text", ["[tool.pytest", "addopts = ]", "\x00"])
def test_invalid_settings_are_ignored(text: str, machine: Machine) -> None:
    machine.make_environment("pytest")
    for name in ("pyproject.toml", "setup.cfg", "tox.ini"):
        machine.put(name, text)
    machine.put("tests/test_a.py")
    assert machine.find("mod.py").name == "pytest"


def test_a_project_in_a_folder_uses_its_own_python_and_settings(machine: Machine) -> None:
    machine.make_environment("pytest")
    machine.put("pyproject.toml", PYTEST_TABLE + "python_files = 'root_*.py'\n")
    python = machine.make_environment("pytest", folder="services/api/.venv")
    machine.put("services/api/pyproject.toml", PYTEST_TABLE + "python_files = ['check_*.py', 'verify_*.py']\n")
    runner = machine.find("services/api/src/mod.py")
    assert (runner.python, runner.folder) == (python, PurePosixPath("services/api"))
    assert runner.patterns == ("check_*.py", "verify_*.py", "conftest.py")
    assert runner.relative("services/api/tests/check_a.py") == "tests/check_a.py"
    assert (runner.can_run("services/api/mod.py"), runner.can_run("services/web/mod.py")) == (True, False)
    assert machine.find("mod.py").patterns == ("root_*.py", "conftest.py")


def test_a_project_in_a_folder_without_settings_has_those_of_the_root(machine: Machine) -> None:
    machine.make_environment("pytest")
    machine.put("pytest.ini", "[pytest]\npython_files = check_*.py\n")
    machine.put("services/api/setup.py")
    runner = machine.find("services/api/mod.py")
    assert (runner.folder, runner.patterns[0]) == (PurePosixPath("services/api"), "check_*.py")


@pytest.mark.parametrize(
    ("settings", "path", "is_test"),
    [
        ("", "tests/test_a.py", True),
        ("", "tests/a_test.py", True),
        ("", "tests/conftest.py", True),
        ("", "tests/check_a.py", False),
        ("", "tests/test_a.txt", False),
        ("python_files = 'check_*.py'\n", "tests/check_a.py", True),
        ("python_files = 'check_*.py'\n", "tests/test_a.py", False),
        ("python_files = 'check_*.py'\n", "conftest.py", True),
        ("python_files = ['*.py']\n", "pkg/mod.py", True),
        ("python_files = 'a.py b.py'\n", "b.py", True),
    ],
)
def test_test_files_are_those_of_the_settings(settings: str, path: str, is_test: bool, machine: Machine) -> None:
    machine.make_environment("pytest")
    machine.put("pyproject.toml", PYTEST_TABLE + settings)
    assert machine.find("mod.py").is_test_file(path) is is_test


def test_examples_in_docstrings_are_tests_if_the_settings_say_so(machine: Machine) -> None:
    machine.make_environment("pytest")
    example = b'def f():\n    """\n    >>> f()\n    1\n    """\n'
    machine.put("pyproject.toml", PYTEST_TABLE)
    plain = machine.find("mod.py")
    machine.put("pyproject.toml", PYTEST_TABLE + "addopts = '--doctest-modules --doctest-glob=*.rst'\n")
    runner = machine.find("mod.py")
    assert [found.has_own_tests(example) for found in (plain, runner)] == [False, True]
    assert not runner.has_own_tests(b"a >> 1\n")
    assert [found.can_run("docs/usage.rst") for found in (plain, runner)] == [False, True]


def test_a_file_with_examples_needs_no_settings(machine: Machine) -> None:
    machine.put("mod.py", '"""\n>>> 1 + 1\n2\n"""\n')
    plain = machine.find("mod.py")
    assert (plain.name, plain.reason) == ("doctest", "examples in mod.py")
    assert machine.command(plain, "mod.py")[1:] == ["-m", "doctest", "-v", "mod.py"]
    machine.make_environment("pytest")
    runner = machine.find("mod.py")
    assert runner.name == "pytest"
    assert machine.command(runner, "mod.py")[-2:] == ["--doctest-modules", "mod.py"]


@pytest.mark.parametrize("name", ["tests/test_a.py", "test/test_a.py", "test_a.py", "tests/testing.py"])
def test_unittest_is_found_where_pytest_is_not_installed(name: str, machine: Machine) -> None:
    python = machine.make_environment()
    machine.put(name, UNITTEST)
    runner = machine.find("mod.py")
    assert (runner.name, runner.reason) == ("unittest", name)
    assert machine.command(runner, name) == [str(python), "-m", "unittest", "-v", name]
    assert runner.is_test_file(name)


def test_test_files_for_pytest_need_an_installed_pytest(machine: Machine) -> None:
    machine.make_environment()
    machine.put("tests/test_a.py", "def test_a():\n    pass\n")
    assert find_runner(machine.root, "mod.py") is None


def test_an_installed_pytest_runs_tests_of_unittest(machine: Machine) -> None:
    machine.make_environment("pytest")
    machine.put("tests/test_a.py", UNITTEST)
    assert machine.find("mod.py").name == "pytest"


def test_a_project_with_django_runs_its_tests_by_django(machine: Machine) -> None:
    python = machine.make_environment("django", folder="site/.venv")
    machine.put("site/manage.py")
    machine.put("site/shop/tests.py", UNITTEST)
    runner = machine.find("site/shop/models.py")
    assert (runner.name, runner.reason, runner.folder) == ("unittest", "manage.py", PurePosixPath("site"))
    command = machine.command(runner, "shop/tests.py", "shop/tests/test_a.py")
    assert command == [
        *(str(python), "manage.py", "test", "-v", "2", "--noinput"),
        *("shop.tests", "shop.tests.test_a"),
    ]
    assert [runner.is_test_file(f"site/shop/{name}") for name in ("tests.py", "test_a.py", "models.py")] == [
        *(True, True, False)
    ]


def test_django_is_not_used_without_the_package(machine: Machine) -> None:
    machine.make_environment("pytest")
    for name in ("manage.py", "pytest.ini"):
        machine.put(name)
    assert machine.find("shop/models.py").name == "pytest"


def test_the_pytest_plug_in_for_django_is_preferred(machine: Machine) -> None:
    machine.make_environment("pytest", "django")
    machine.put("manage.py")
    machine.put("pytest.ini", "[pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\n")
    assert machine.find("shop/models.py").name == "pytest"


@pytest.mark.parametrize(
    ("settings", "names", "others"),
    [
        ("addopts = --doctest-glob=*.md", ["README.md", "docs/a.md"], ["docs/a.rst"]),
        ("addopts = -q --doctest-glob '*.rst' --ff\ntestpaths = docs", ["docs/a.rst", "docs/b/a.rst"], ["a.rst"]),
        ("addopts = --doctest-modules", [], ["README.md"]),
    ],
)
def test_documents_with_examples_are_tests_if_pytest_reads_them(
    settings: str, names: list[str], others: list[str], machine: Machine
) -> None:
    machine.make_environment("pytest", folder="shop/.venv")
    machine.put("shop/pytest.ini", f"[pytest]\n{settings}\n")
    runner = machine.find("shop/a.py")
    assert all(runner.is_test_file(f"shop/{name}") for name in names)
    assert not any(runner.is_test_file(f"shop/{name}") for name in others)


# -- JavaScript and TypeScript
def put_package(machine: Machine, folder: str, script: str = "", **tools: str) -> None:
    package = {"scripts": {"test": script}, "devDependencies": tools}
    machine.put(str(PurePosixPath(folder, "package.json")), json.dumps(package))


REPORT = [f"--test-reporter={EVENTS_REPORTER}", "--test-reporter-destination=/scratch/report.xml"]


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("node --test", ["--test"]),
        ("node --test tests/*.js", ["--test"]),
        ("node --import tsx --test", ["--import", "tsx", "--test"]),
        ("node --import=tsx --test 'src/**/*.test.ts'", ["--import=tsx", "--test"]),
        ("node --loader ts-node/esm --test", ["--loader", "ts-node/esm", "--test"]),
        ("tsc && NODE_ENV=test node -r ./setup.js --test", ["-r", "./setup.js", "--test"]),
        ("cross-env A=1 node --test --test-reporter spec test/", ["--test"]),
        ("c8 node --test --test-reporter=spec", ["--test"]),
    ],
)
def test_the_script_of_a_package_names_the_options_of_node(script: str, options: list[str], machine: Machine) -> None:
    node = machine.install("node")
    put_package(machine, "", script)
    runner = machine.find("src/a.ts")
    assert (runner.name, runner.reason) == ("node", "package.json")
    assert machine.command(runner, "a.test.ts") == [str(node), *options, *REPORT, "a.test.ts"]


@pytest.mark.parametrize("script", ["tsx --test", "npx tsx --test tests/"])
def test_a_package_runs_its_tests_by_tsx(script: str, machine: Machine) -> None:
    tsx = machine.install_node("tsx")
    put_package(machine, "packages/a", script)
    runner = machine.find("packages/a/src/a.ts")
    assert (runner.name, runner.folder) == ("node", PurePosixPath("packages/a"))
    assert machine.command(runner, "a.test.ts") == [str(tsx), "--test", *REPORT, "a.test.ts"]


@pytest.mark.parametrize(
    ("tool", "options"),
    [
        ("vitest", ["run", "--reporter=json", "--outputFile=/scratch/report.xml", "--bail=2"]),
        ("jest", ["--ci", "--json", "--outputFile=/scratch/report.xml", "--bail=2"]),
        ("mocha", ["--reporter", "json", "--reporter-option", "output=/scratch/report.xml", "--bail"]),
    ],
)
@pytest.mark.parametrize("is_in_script", [True, False])
@pytest.mark.parametrize("installed", ["packages/a", ""])
def test_a_tool_in_the_folder_or_above_is_found(
    tool: str, options: list[str], is_in_script: bool, installed: str, machine: Machine
) -> None:
    program = machine.install_node(tool, installed)
    machine.install("node")
    tools = {} if is_in_script else {tool: "1"}
    put_package(machine, "packages/a", f"{tool} --coverage" if is_in_script else "", **tools)
    runner = machine.find("packages/a/src/a.ts")
    assert (runner.name, runner.folder) == (tool, PurePosixPath("packages/a"))
    assert machine.command(runner, "a.test.ts", failures=2) == [str(program), *options, "a.test.ts"]
    assert runner.is_test_file("packages/a/src/a.test.ts")
    assert not runner.is_test_file("packages/a/src/a.ts")
    modules = machine.root / installed / "node_modules"
    assert modules in runner.programs


@pytest.mark.parametrize(
    ("scripts", "options", "env"),
    [
        ({"test": "npm run test:unit", "test:unit": "mocha -r ./setup.js"}, ["-r", "./setup.js"], {}),
        ({"test": "npm run unit -- --ui tdd", "unit": "mocha"}, ["--ui", "tdd"], {}),
        ({"test": "run-s lint test:*", "lint": "eslint .", "test:unit": "mocha --exit"}, ["--exit"], {}),
        ({"test": "yarn lint && pnpm unit", "unit": "nyc --all mocha --reporter spec -t 9 x.js"}, ["-t", "9"], {}),
        ({"test:unit": "mocha --watch --timeout=9"}, ["--timeout=9"], {}),
        ({"test": "cross-env MODE=ci mocha"}, [], {"MODE": "ci"}),
        ({"test": "node --import tsx node_modules/mocha/bin/mocha.js"}, [], {"NODE_OPTIONS": "--import tsx"}),
        ({"test": "npm test && npm run other", "other": "npm run test"}, [], {}),
        ({"test": "tsc || echo 'no types'; mocha $FILES"}, [], {}),
        ({"test": "mocha --exit $(find test -name '*.js') `ls`"}, ["--exit"], {}),
    ],
)
def test_scripts_name_the_options_and_variables_of_a_tool(
    scripts: dict[str, str], options: list[str], env: dict[str, str], machine: Machine
) -> None:
    program = machine.install_node("mocha")
    machine.put("package.json", json.dumps({"scripts": scripts, "devDependencies": {"mocha": "1"}}))
    runner = machine.find("src/a.js")
    assert (runner.name, runner.env) == ("mocha", env)
    report = ["--reporter", "json", "--reporter-option", "output=/scratch/report.xml"]
    assert machine.command(runner, "a.test.js") == [str(program), *options, *report, "a.test.js"]


@pytest.mark.parametrize("options", ["--projects a b", "--config=x.json", "--testPathIgnorePatterns old new -i"])
def test_options_of_jest_with_several_words_end_before_the_report(options: str, machine: Machine) -> None:
    program = machine.install_node("jest")
    put_package(machine, "", f"jest {options} --coverage --reporters a b")
    command = machine.command(machine.find("src/a.js"), "a.test.js")
    report = ["--json", "--outputFile=/scratch/report.xml"]
    assert command == [str(program), "--ci", *options.split(), *report, "a.test.js"]


@pytest.mark.parametrize(
    ("script", "name", "text"),
    [
        ("node --test checks/*.js", "", ""),
        ("mocha './checks/**/*.{js,ts}'", "", ""),
        ("mocha checks", "", ""),
        ("mocha --exit 'checks/**/*.@(js|ts)' && echo done; exit", "", ""),
        ("mocha", ".mocharc.yml", "# as it was\nspec:\n  - checks/**/*.js\nui: tdd\n"),
        ("mocha", ".mocharc.yaml", "spec: checks\n"),
        ("mocha", ".mocharc.json", '{"spec": ["checks/**/*.js"]}'),
        (
            "jest",
            "jest.config.js",
            "module.exports = { testMatch: ['<rootDir>/checks/**/?(*.)+(one|two).[jt]s?(x)'] };",
        ),
        ("jest --config unit.json", "unit.json", '{"testMatch": ["**/checks/**/*.js"]}'),
        (
            "vitest",
            "vitest.config.mjs",
            "export default { test: { coverage: { include: ['src/**/*.js'] }, include: [`checks/**/*.js`] } };",
        ),
    ],
)
def test_settings_and_scripts_name_the_test_files(script: str, name: str, text: str, machine: Machine) -> None:
    machine.install("node")
    tool = script.split()[0]
    machine.install_node(tool)
    machine.put("packages/a/checks/one.js")
    put_package(machine, "packages/a", script)
    if name:
        machine.put(f"packages/a/{name}", text)
    runner = machine.find("packages/a/src/a.js")
    assert runner.is_test_file("packages/a/checks/one.js")
    assert not runner.is_test_file("packages/a/src/one.js")


@pytest.mark.parametrize("pattern", ["**/*.js", "*.js", "**/*", "../tests/**", "/tests/*.js", "!tests/a.js", ""])
def test_a_pattern_for_all_files_names_no_tests(pattern: str, machine: Machine) -> None:
    machine.install_node("mocha")
    put_package(machine, "", "mocha")
    machine.put(".mocharc.json", json.dumps({"spec": [pattern]}))
    runner = machine.find("a.js")
    assert not any(runner.is_test_file(path) for path in ("a.js", "src/a.js", "tests-of/a.js"))


def test_the_script_decides_between_two_tools(machine: Machine) -> None:
    for tool in ("vitest", "mocha"):
        machine.install_node(tool)
    put_package(machine, "", "mocha", vitest="1", mocha="1")
    assert machine.find("a.js").name == "mocha"


def test_a_package_without_tests_has_those_of_the_package_above(machine: Machine) -> None:
    machine.install_node("vitest")
    put_package(machine, "", "vitest")
    put_package(machine, "packages/a")
    runner = machine.find("packages/a/src/a.ts")
    assert (runner.name, runner.folder) == ("vitest", PurePosixPath())


def test_tests_within_a_source_are_those_of_vitest(machine: Machine) -> None:
    text = b"if (import.meta.vitest) {\n}\n"
    for tool in ("vitest", "jest"):
        machine.install_node(tool, tool)
        put_package(machine, tool, tool)
    assert [machine.find(f"{tool}/a.ts").has_own_tests(text) for tool in ("vitest", "jest")] == [True, False]


@pytest.mark.parametrize("script", ["", "vitest", "node --test", "tsx --test", "echo 'no tests", "make test"])
def test_a_package_without_its_tool_has_no_program(script: str, machine: Machine) -> None:
    put_package(machine, "", script, jest="1")
    assert find_runner(machine.root, "a.js") is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"scripts": []}', '{"scripts": {"test": 3}}'])
def test_a_package_that_cannot_be_read_has_no_program(text: str, machine: Machine) -> None:
    machine.install("node")
    machine.put("package.json", text)
    assert find_runner(machine.root, "a.js") is None


# -- Rust and Go
def test_a_crate_runs_the_tests_of_cargo(machine: Machine) -> None:
    cargo = machine.install("cargo")
    machine.put("crate/Cargo.toml", "[package]\nname = 'a'\n")
    runner = machine.find("crate/src/lib.rs")
    assert (runner.name, runner.reason, runner.folder) == ("cargo", "Cargo.toml", PurePosixPath("crate"))
    base = [str(cargo), "test", "--offline", "--no-fail-fast", "--target-dir", "/scratch/target"]
    assert machine.command(runner, "src/lib.rs") == base
    assert machine.command(runner, "tests/api.rs") == [*base, "--test", "api"]
    assert machine.command(runner, "tests/api.rs", "src/lib.rs") == base
    in_place = Selection(["src/lib.rs"], Path("/scratch/report.xml"), is_in_place=True)
    assert runner.command(in_place) == [str(cargo), "test", "--offline", "--no-fail-fast"]
    texts = (b"#[cfg(test)]\nmod tests {}\n", b"#[tokio::test]\n", b"/// ```\n/// f();\n/// ```\n", b"fn test() {}\n")
    assert [runner.has_own_tests(text) for text in texts] == [True, True, True, False]
    assert (runner.is_test_file("crate/tests/api.rs"), runner.is_test_file("crate/src/lib.rs")) == (True, False)


def test_a_crate_of_a_workspace_runs_the_tests_of_the_workspace(machine: Machine) -> None:
    machine.install("cargo")
    machine.put("Cargo.toml", "[workspace]\nmembers = ['crates/*']\n")
    machine.put("crates/a/Cargo.toml", "[package]\nname = 'a'\n")
    runner = machine.find("crates/a/src/lib.rs")
    assert (runner.folder, runner.runs_all) == (PurePosixPath(), True)
    command = machine.command(runner, "crates/a/tests/api.rs")
    assert command[-1] == "--workspace"
    assert "--test" not in command


def test_a_module_of_go_runs_the_tests_of_its_folders(machine: Machine) -> None:
    go = machine.install("go")
    machine.put("tools/go.mod", "module example.org/tools\n")
    runner = machine.find("tools/pkg/a.go")
    assert (runner.name, runner.reason, runner.folder) == ("go", "go.mod", PurePosixPath("tools"))
    files = ("pkg/b_test.go", "pkg/a_test.go", "a_test.go")
    assert machine.command(runner, *files) == [str(go), "test", "-v", "./.", "./pkg"]
    assert machine.command(runner, failures=1) == [str(go), "test", "-v", "-failfast", "./..."]
    assert (runner.is_test_file("tools/pkg/a_test.go"), runner.is_test_file("tools/pkg/a.go")) == (True, False)
    assert (runner.env or {})["GOPROXY"] == "off"


@pytest.mark.parametrize(("mark", "path"), [("Cargo.toml", "src/lib.rs"), ("go.mod", "a.go")])
def test_a_tool_that_is_not_installed_is_no_program(mark: str, path: str, machine: Machine) -> None:
    machine.put(mark)
    assert find_runner(machine.root, path) is None


@pytest.mark.parametrize(("tool", "path"), [("cargo", "src/lib.rs"), ("go", "a.go"), ("node", "a.js")])
def test_a_file_in_no_project_has_no_program(tool: str, path: str, machine: Machine) -> None:
    machine.install(tool)
    assert find_runner(machine.root, path) is None


@pytest.mark.parametrize("path", ["README.md", "main.c", "Makefile"])
def test_other_files_have_no_program(path: str, machine: Machine) -> None:
    machine.put("pytest.ini")
    assert find_runner(machine.root, path) is None
