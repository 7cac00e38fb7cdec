"""Make the cases: as many of each kind as the number for a language allows, each in another file where there are
enough."""

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from benchmarks.one_fault import judges
from benchmarks.one_fault.case import Case, Diagnostic
from benchmarks.one_fault.code import Code
from benchmarks.one_fault.judges import Trial
from benchmarks.one_fault.mutations import punctuation
from benchmarks.one_fault.registry import LANGUAGES, MUTATIONS, Candidate, list_kinds
from benchmarks.one_fault.sources import Source, count_files, find_sources

TRIES = 6
"""Candidates of one kind that are judged in one file."""
FILES = 400
"""Files that are looked at for one kind before it is given up."""
BATCH = 60
"""Trials that pyright judges at once."""


@dataclass
class Language:
    """The files of a language, and the cases that were made of them."""

    name: str
    rng: Random
    files: list[tuple[Source, Code]] = field(default_factory=list[tuple[Source, Code]])
    used: Counter[str] = field(default_factory=Counter[str])
    cases: list[Case] = field(default_factory=list[Case])

    def fresh(self) -> Iterator[tuple[Source, Code]]:
        """Yield the files, the least used first."""
        order = sorted(self.files, key=lambda one: self.used[_make_source_key(one[0])])
        return iter(order[:FILES])


def generate(per_language: int, seed: int, languages: tuple[str, ...] = LANGUAGES) -> list[Case]:
    """Return the cases of all languages, and print on stderr which sources were found."""
    cases: list[Case] = []
    for name in languages:
        language = Language(name, Random(f"{seed}/{name}"))
        language.files = _read_sound_files(name, language.rng, per_language * 12)
        _say(name, count_files(name), len(language.files))
        _fill(language, per_language)
        cases += language.cases
        print(f"{name}: {len(language.cases)} cases", file=sys.stderr, flush=True)
    return cases


def _read_sound_files(language: str, rng: Random, number: int) -> list[tuple[Source, Code]]:
    """Return the files that parse without an error."""
    files: list[tuple[Source, Code]] = []
    for source in find_sources(language, rng):
        code = Code(language, source.data)
        if not code.broken:
            files.append((source, code))
        if len(files) == number:
            break
    return files


def _say(language: str, projects: dict[str, int], usable: int) -> None:
    listed = ", ".join(f"{name} {number}" for name, number in projects.items() if number > 4)
    print(f"{language}: {usable} usable files; {listed or 'NO SOURCES FOUND'}", file=sys.stderr, flush=True)


def _fill(language: Language, number: int) -> None:
    names = list_kinds(language.name)
    share = {kind: number // len(names) + (at < number % len(names)) for at, kind in enumerate(names)}
    short = 0
    for kind in names:
        made = _make(language, kind, share[kind])
        short += share[kind] - made
    # what a kind could not be made of goes to the others
    for kind in names:
        if short > 0:
            short -= _make(language, kind, -(-short // 3))


def _make(language: Language, kind: str, number: int) -> int:
    """Add cases of a kind; how many there were."""
    before, trials = len(language.cases), list[tuple[Source, Trial]]()
    mutate = MUTATIONS[language.name, kind]
    for source, code in language.fresh():
        if len(language.cases) - before >= number:
            break
        rng = Random(f"{kind}/{language.used[_make_source_key(source)]}/{_make_source_key(source)}")
        for _, candidate in zip(range(TRIES), mutate(code, rng), strict=False):
            trial = Trial(code, candidate)
            if candidate.judge == "pyright":
                trials.append((source, trial))
                break
            verdict = judges.ask_judge(trial)
            if verdict and not (candidate.judge == "syntax" and _is_ambiguous(trial, rng)):
                language.cases.append(_make_case(language, kind, source, trial, verdict))
                break
        if len(trials) >= BATCH:
            _judge(language, kind, trials, number - (len(language.cases) - before))
            trials = []
    if trials and len(language.cases) - before < number:
        _judge(language, kind, trials, number - (len(language.cases) - before))
    return len(language.cases) - before


def _judge(language: Language, kind: str, trials: list[tuple[Source, Trial]], number: int) -> None:
    verdicts = judges.ask_pyright([trial for _, trial in trials])
    for (source, trial), verdict in zip(trials, verdicts, strict=True):
        if verdict and number > 0:
            language.cases.append(_make_case(language, kind, source, trial, verdict))
            number -= 1


def _is_ambiguous(trial: Trial, rng: Random) -> bool:
    """Return whether the token could also stand elsewhere in its line. One in five of those is accepted anyway."""
    others = punctuation.count_alternatives(trial.code, trial.candidate)
    trial.candidate.facts["alternatives"] = others
    return others > 0 and rng.random() > 0.2


def _make_case(language: Language, kind: str, source: Source, trial: Trial, verdict: Diagnostic | bool) -> Case:
    language.used[_make_source_key(source)] += 1
    candidate: Candidate = trial.candidate
    diagnostic = verdict if isinstance(verdict, Diagnostic) else candidate.diagnostic
    number = sum(case.kind == kind for case in language.cases)
    digest = hashlib.sha256(_make_source_key(source).encode()).digest()
    return Case(
        id=f"{language.name}/{kind}/{number}",
        part=("dev", "heldout")[digest[0] % 2],
        language=language.name,
        kind=kind,
        project=source.project,
        path=source.path,
        text=candidate.text(trial.code).decode(),
        truth=trial.code.data.decode(),
        diagnostic=diagnostic,
        facts=candidate.facts,
    )


def _make_source_key(source: Source) -> str:
    return f"{source.project}/{source.path}"
