"""Random interleavings of edits, saves, changes on disk and switches of the branch: no verdict is ever stale.

The tests and the type checker are fakes behind their real interfaces: both keep what they have seen of the disk until
they are told of a change. The checker does nothing about a changed file that it does not know, as real ones.
"""

import asyncio
import random
import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from lsp_harness.config.schema import Verification
from lsp_harness.harness.events import FindingsChanged, HarnessEvent
from lsp_harness.harness.verdicts.verification_verbs import describe_verdict
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.process.sandbox.sandbox import Confinement
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.verify.change import ChangeSet
from lsp_harness.verify.check import Check, CheckContext, CheckTools
from lsp_harness.verify.checks import SuiteCheck, TypesCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.project_tests.baselines import Baselines
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.conversation import CheckerConversation
from lsp_harness.verify.types.message_child import Json, MessageChild
from lsp_harness.verify.types.type_checker import Program, TypeChecker
from lsp_harness.workspace.folder_stamps import ChangedFile, ChangeKind
from tests.harness.bench import Make
from tests.harness.test_prepared_fixes import ManualClock
from tests.harness.tools import make_settings
from tests.support.rounds import count_rounds

ROUNDS = count_rounds(1_000)
NAMES = ("one", "two", "three", "four")
NEED = re.compile(r"need\((\w+), (\d)\)")
CONFIG = make_settings(
    verification={"on_save": True, "debounce_ms": 300, "on_open": False}, background={"prepare_fixes": 0}
)


def find_module(folder: Path, name: str) -> Path | None:
    """Return the file of a module, in the folder or in the one below it."""
    return next((file for place in (folder, folder / "pack") if (file := place / f"{name}.py").is_file()), None)


def find_unmet_needs(text: str, read: Callable[[str], str | None]) -> list[str]:
    """Return the needs of a text that the modules do not meet. A module has one number in it."""
    return [name for name, number in NEED.findall(text) if read(name) != number]


def read_disk(folder: Path) -> Callable[[str], str | None]:
    def read(name: str) -> str | None:
        file = find_module(folder, name)
        return file.read_text() if file else None

    return read


class DiskSuites:
    """Tests that pass if each module has the number that the text needs. Results of earlier runs are reused."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder, self._chance = folder, chance
        self._baselines = Baselines[list[str]]()
        self.waiting: list[asyncio.Event] = []
        self.runs = 0

    async def compare(
        self,
        changes: ChangeSet,
        must_pass: frozenset[str] = frozenset(),
        *,
        wants_repairs: bool = False,
        task: str = "",
    ) -> Outcome:
        before = await self._baselines.find(changes.main.before.hash, lambda: self._run(changes.main.before))
        after = await self._run(changes.main.after)
        return judge(before, after, changes.main.before)

    async def _run(self, document: Document) -> list[str]:
        self.runs += 1
        if self._chance.random() < 0.5:
            go = asyncio.Event()
            self.waiting.append(go)
            await go.wait()
        return find_unmet_needs(document.text, read_disk(self._folder))

    def record_file_change(self, file: Path | None = None) -> None:
        self._baselines.clear()

    async def aclose(self) -> None: ...


def judge(before: Collection[str], after: Sequence[str], base: Document) -> Outcome:
    """Return the outcome of a text that must break nothing that its base line does not."""
    if broken := [name for name in after if name not in before]:
        return Outcome("tests", "failed", (Finding(0, 0, " ".join(broken), "tests"),), reason=base.hash)
    if after:
        return Outcome("tests", "skipped", reason=base.hash, is_unresolved=True)
    return Outcome("tests", "passed", reason=base.hash)


class Child:
    has_ended, last_words = False, ""

    async def close(self) -> None: ...


class DeafConversation(CheckerConversation):
    """A checker that reads the files at its start, and later only learns about reported changes."""

    def __init__(self, root: Path) -> None:
        super().__init__(cast("MessageChild", Child()))
        self._known = {file: file.read_text() for file in root.rglob("*.py")}
        self._folder = root

    async def find_findings(self, document: Document, limit_s: float) -> tuple[Finding, ...]:
        await asyncio.sleep(0)
        # of two files with one name, that in the folder itself counts; other folders are none of the program's
        places = [self._folder / "pack", self._folder]
        texts = {file.stem: text for place in places for file, text in self._known.items() if file.parent == place}
        return tuple(
            Finding(0, 0, f"`{name}` is missing", "ty", "need") for name in find_unmet_needs(document.text, texts.get)
        )

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        for change in changes:
            if change.kind == "deleted":
                self._known.pop(change.path, None)
            elif change.kind == "created" or change.path in self._known:
                self._known[change.path] = change.path.read_text() if change.path.is_file() else ""

    def _open(self, document: Document) -> None: ...
    def _change(self, before: Document, document: Document, version: int) -> None: ...
    def _close_text(self, uri: str) -> None: ...


class DeafChecker(TypeChecker):
    name: ClassVar[str] = "ty"
    install_hint: ClassVar[str] = ""
    counting_rules: ClassVar[Mapping[str, Any]] = {}

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program:
        async def start(argv: Sequence[str], root: Path, settings: Callable[[], Json]) -> CheckerConversation:
            return DeafConversation(root)

        return Program(["ty"], start)

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        return {}


class World:
    """A changing folder, an editor whose watcher is late, and the list of wrong verdicts."""

    def __init__(self, bench: Make, folder: Path, seed: int) -> None:
        self.chance, self.hand, self.wrong = random.Random(seed), ManualClock(), list[str]()
        self.folder = folder
        self.suites = DiskSuites(folder, self.chance)
        self.unseen: list[tuple[Path, ChangeKind]] = []
        self.texts: dict[str, Document] = {}

        async def find_objection(command: Sequence[str], confinement: Confinement | None) -> str:
            return ""

        pool = CheckerPool(checkers=[DeafChecker()])
        types = TypeComparison(pool, ToolComparison(ToolAccess(find_objection, machine_sandbox)))
        suites = cast("SuiteComparison", self.suites)

        def create_checks(settings: Verification, context: CheckContext) -> list[Check]:
            return [TypesCheck(types), SuiteCheck(suites)]

        verifier = Verifier(CheckTools(Ruff(), suites, None, types), create_checks)
        self.b = bench(config=CONFIG, verifier=verifier, clock=self.hand.clock, works_ahead=False)
        self.harness = self.b.harness
        self.harness.services.__dict__["checkers"] = pool
        self.pool = pool
        self.harness.events.subscribe(self._record_event)
        self.published = 0
        for name in NAMES:
            self.write(folder / f"{name}.py", "1")
        self.uris = [self.b.open("a = 1\n", f"{name}.py").document.uri for name in ("app", "web")]

    # -- acts
    def write(self, file: Path, text: str) -> None:
        self.unseen.append((file, "changed" if file.exists() else "created"))
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def edit(self) -> None:
        uri = self.chance.choice(self.uris)
        text = self.harness.documents.get(uri).text
        needs = [f"need({self.chance.choice(NAMES)}, {self.chance.choice('12')})\n" for _ in range(2)]
        new = "a = 1\n" + "".join(needs[: self.chance.randrange(3)])
        self.harness.change(uri, Edit(0, len(text.data), new.encode()), text.version + 1)

    def save(self) -> None:
        uri = self.chance.choice(self.uris)
        text = self.harness.documents.get(uri).text
        self.texts[self.harness.documents.get(uri).saved_text.hash] = self.harness.documents.get(uri).saved_text
        (self.folder / Path(uri).name).write_text(text.text)
        self.harness.record_save(uri)
        self.harness.verification.record_save(uri)

    def change(self) -> None:
        self.write(find_module(self.folder, name := self.chance.choice(NAMES)) or self.folder / f"{name}.py", "2")

    def change_back(self) -> None:
        self.write(self.folder / f"{self.chance.choice(NAMES)}.py", "1")

    def delete(self) -> None:
        if file := find_module(self.folder, self.chance.choice(NAMES)):
            file.unlink()
            self.unseen.append((file, "deleted"))

    def rename(self) -> None:
        """Move a file over another one. Its times and its size stay."""
        file = find_module(self.folder, self.chance.choice(NAMES))
        if file is None:
            return
        target = file.with_name(f"{self.chance.choice(NAMES)}.py")
        file.rename(target)
        self.unseen.append((file, "deleted"))
        self.unseen.append((target, "created"))

    def move_folder(self) -> None:
        """Rename a folder. Watchers report the folder and not its files."""
        one, two = self.folder / "pack", self.folder / "other"
        if two.is_dir():
            shutil.rmtree(one, ignore_errors=True)
            two.rename(one)
        elif one.is_dir():
            one.rename(two)
        else:
            self.write(one / f"{self.chance.choice(NAMES)}.py", "2")
        self.unseen.append((one, "created"))
        self.unseen.append((two, "deleted"))

    def switch_branch(self) -> None:
        number = self.chance.choice("12")
        (self.folder / ".git").mkdir(exist_ok=True)
        (self.folder / ".git/HEAD").write_text(f"ref: refs/heads/{number}\n")
        for name in NAMES:
            self.write(self.folder / f"{name}.py", number)

    def see(self) -> None:
        """Let the watcher report some of what happened, perhaps in another order."""
        self.chance.shuffle(self.unseen)
        seen, self.unseen = self.unseen[:3], self.unseen[3:]
        self.harness.files.record([(path.as_uri(), kind) for path, kind in seen])

    def answer(self) -> None:
        if self.suites.waiting:
            self.suites.waiting.pop(self.chance.randrange(len(self.suites.waiting))).set()

    def pass_time(self) -> None:
        self.hand.move(self.chance.choice((0.1, 0.4)))

    # -- what is seen
    def _record_event(self, event: HarnessEvent) -> None:
        if isinstance(event, FindingsChanged):
            self.published += 1
            self.check(event.uri, "when it was published")

    def check(self, uri: str, moment: str) -> None:
        """Compare the verdict about a document with the truth on disk."""
        if (opened := self.harness.documents.find(uri)) is None:
            return
        text = opened.text
        published = self.harness.verification.findings(text)
        if published.outdated_by:
            return
        missing = find_unmet_needs(text.text, read_disk(self.folder))
        for outcome in published.outcomes:
            if outcome.check == "tests":
                base = self.texts[outcome.reason]
                right = judge(find_unmet_needs(base.text, read_disk(self.folder)), missing, base)
                if (outcome.status, outcome.findings) != (right.status, right.findings):
                    self.wrong.append(
                        f"{moment}: {outcome.status} and not {right.status}, {describe_verdict(published)}"
                    )
            elif outcome.status == "failed" and not missing:
                self.wrong.append(f"{moment}: {text.text!r} is said to miss a module")
            elif outcome.status == "skipped":
                self.wrong.append(f"{moment}: types skipped: {outcome.reason}")

    async def settle(self) -> None:
        """Let everything come to its end, as if nobody did anything for a while."""
        while self.unseen:
            self.see()
        is_moved = True
        while self.hand.timers or is_moved:
            idle = asyncio.ensure_future(self.harness.verification.wait_until_idle())
            while not idle.done():
                for go in self.suites.waiting:
                    go.set()
                self.suites.waiting.clear()
                await asyncio.sleep(0)
            is_moved = bool(self.hand.timers)
            self.hand.move(6)


async def test_no_verdict_is_ever_stale(bench: Make, tmp_path: Path) -> None:
    world = World(bench, tmp_path, 7)
    acts = [
        *(world.edit, world.edit, world.save, world.save, world.change, world.change_back, world.delete),
        *(world.rename, world.move_folder, world.switch_branch, world.see, world.answer, world.answer),
        *(world.pass_time, world.pass_time),
    ]
    shown: set[str] = set()
    for number in range(ROUNDS):
        for act in world.chance.choices(acts, k=world.chance.randrange(2, 9)):
            act()
            for _ in range(world.chance.randrange(3)):
                await asyncio.sleep(0)
        await world.settle()
        for uri in world.uris:
            world.check(uri, f"after round {number}")
            published = world.harness.verification.findings(world.harness.documents.get(uri).text)
            shown.add(" ".join(o.status for o in published.outcomes) + " old" * bool(published.outdated_by))
    await world.pool.aclose()
    assert world.wrong == []
    # what was shown is worth the test: every kind of verdict, and many of them
    assert {"passed passed", "failed failed", "passed passed old"} <= shown, shown
    assert world.published > ROUNDS / 10
