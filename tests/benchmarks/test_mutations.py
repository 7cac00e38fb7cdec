"""Each mutation makes exactly the fault that it is named after, in small texts of each language."""

from random import Random

import pytest

from benchmarks.one_fault import judges
from benchmarks.one_fault.code import Code
from benchmarks.one_fault.judges import Trial
from benchmarks.one_fault.mutations import punctuation
from benchmarks.one_fault.registry import LANGUAGES, MUTATIONS, Candidate, list_kinds
from benchmarks.one_fault.typos import SHORTEST, edit_distance, misspell, recase
from lsp_harness.text.edit import apply

TEXTS = {
    "python": """import json
from pathlib import Path


def load_settings(folder: Path, defaults: dict[str, int]) -> dict[str, int]:
    content = (folder / "settings.json").read_text(encoding="utf-8")
    if not content:
        return defaults
    return merge_settings(json.loads(content), defaults)


def merge_settings(given: dict[str, int], defaults: dict[str, int]) -> dict[str, int]:
    return {**defaults, **given}
""",
    "javascript": """const path = require('path');
const { readFile, writeFile } = require('./files');

class Store {
  constructor(folder) {
    this.folder = folder;
    this.names = [];
  }

  remember(name, value) {
    const target = path.join(this.folder, name);
    this.names.push(name);
    for (let at = 0; at < 2; at++) {
      writeFile(target, { content: value, mode: 'text' });
    }
    return new Record(target) || readFile(target);
  }
}
""",
    "typescript": """import * as path from 'path';
import { Reader, Writer } from './files';

class Store {
  private names: string[] = [];

  remember(target: Writer, title: string): Reader {
    for (let at = 0; at < 2; at++) {
      this.names.push(title);
    }
    this.remember(target, title);
    describe(title);
    return new Reader(path.join(title, 'content'), { mode: 'text', title });
  }
}
""",
    "go": """package store

import (
\t"fmt"
\t"strings"
)

type Store struct{ names []string }

func (s *Store) remember(title string, count int) string {
\tfor at := 0; at < count; at++ {
\t\ts.names = append(s.names, title)
\t}
\tswitch count {
\tcase 1:
\t\treturn strings.ToUpper(title)
\t}
\treturn fmt.Sprintf("%s", describe(title, count))
}

func describe(title string, count int) string {
\treturn fmt.Sprint(title, count)
}
""",
    "rust": """use std::collections::HashMap;

pub struct Store {
    names: HashMap<String, u32>,
}

impl Store {
    fn remember(&self, title: &str, count: u32) -> Vec<u32> {
        let total = describe(title, count);
        if self.is_known(title) {
            return vec![total, count];
        }
        self.names.values().copied().collect()
    }

    fn is_known(&self, title: &str) -> bool {
        self.names.contains_key(title) || title == "content"
    }
}

fn describe(title: &str, count: u32) -> u32 {
    title.len() as u32 + count
}
""",
    "java": """package store;

import java.util.List;
import java.util.ArrayList;

public class Store {
    private final List<String> names = new ArrayList<>();

    public String remember(String title, int count) {
        String shown = count > 1 ? title : "content";
        names.add(shown);
        this.names.add(title);
        return describe(title, count) + title.trim();
    }

    private String describe(String title, int count) {
        return title + count;
    }
}
""",
    "csharp": """using System;
using System.Collections.Generic;

namespace Stores
{
    public class Store
    {
        private readonly List<string> names = new List<string>();

        public string Remember(string title, int count)
        {
            string shown = count > 1 ? title : "content";
            this.names.Add(shown);
            Record kept = new Record(shown);
            Console.WriteLine(Describe(title: title, count: count));
            return Describe(title, count);
        }

        private string Describe(string title, int count)
        {
            return title + count;
        }
    }
}
""",
    "php": """<?php
namespace Stores;

use Stores\\Files\\Reader;
use Stores\\Files\\Writer;
use RuntimeException;

class Store
{
    private $names = [];

    public function remember(string $title, int $count): string
    {
        $this->names[] = trim($title);
        if ($count > 1) {
            throw new RuntimeException("too many", code: $count);
        }
        $reader = new Reader($title);
        $writer = new Writer($reader, $title);
        return $count === 0 ? $this->describe($title, $count) : 'content';
    }

    private function describe(string $title, int $count): string
    {
        return $title . $count;
    }
}
""",
    "ruby": """require 'json'

class Store
  def remember(title, count)
    shown = count > 1 ? title : "content"
    names.push(shown)
    result = describe(title, { count: count, label: [shown, title] })
    JSON.generate(result)
  end

  def describe(title, options)
    title.downcase + Labels::DEFAULT + options.to_s
  end
end
""",
}


def find_candidates(language: str, kind: str) -> list[tuple[Code, Candidate]]:
    code = Code(language, TEXTS[language].encode())
    return [(code, candidate) for candidate in MUTATIONS[language, kind](code, Random(1))]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_texts_themselves_have_no_fault(language: str) -> None:
    assert not Code(language, TEXTS[language].encode()).broken


ALL = [(language, kind) for language in LANGUAGES for kind in list_kinds(language)]


@pytest.mark.parametrize(("language", "kind"), ALL)
def test_each_kind_of_mutation_makes_its_fault(language: str, kind: str) -> None:
    found = find_candidates(language, kind)
    assert found
    for code, candidate in found:
        after = candidate.text(code)
        assert after != code.data
        if diagnostic := candidate.diagnostic:
            marked = after[diagnostic.start : diagnostic.end].decode()
            assert marked
            assert "\n" not in marked
            assert "{" not in diagnostic.message.replace("interface{}", "").replace(marked, "")
    judged = [
        candidate.judge in ("ruff", "pyright") or judges.ask_judge(Trial(*one))
        for one in found
        for candidate in one[1:]
    ]
    assert any(judged)


def test_a_misspelt_name_is_reported_by_ruff_alone() -> None:
    verdicts = [judges.ask_judge(Trial(*one)) for one in find_candidates("python", "misspelt_variable")[:3]]
    found = [verdict for verdict in verdicts if not isinstance(verdict, bool)]
    assert found
    assert {one.code for one in found} == {"F821"}


def test_a_mutation_with_an_additional_finding_is_rejected() -> None:
    code = Code("python", b"import os\n\n\ndef here() -> str:\n    return os.getcwd()\n")
    at = code.data.index(b"os.getcwd")
    for expected, accepted in ((("F821",), False), (("F821", "F401|F841"), True)):
        candidate = Candidate(punctuation.Edit(at, at + 2, b"so"), "ruff", expected=expected)
        assert bool(judges.ask_judge(Trial(code, candidate))) == accepted


def test_a_removed_import_takes_its_line_and_marks_its_first_use() -> None:
    [(code, candidate)] = find_candidates("java", "missing_import")[:1]
    after, said = candidate.text(code), candidate.diagnostic
    assert said
    assert after.count(b"import java.util") == 1
    name = after[said.start : said.end].decode()
    assert said.message == f"{name} cannot be resolved to a type"
    assert f"import java.util.{name};" not in after.decode()


def test_arguments_change_places_where_their_types_differ() -> None:
    [(code, candidate)] = find_candidates("java", "swapped_arguments")
    assert b"describe(count, title)" in candidate.text(code)
    assert candidate.diagnostic
    assert candidate.diagnostic.message == (
        "The method describe(String, int) in the type Store is not applicable for the arguments (int, String)"
    )


def test_other_places_for_a_token_in_its_line_are_counted() -> None:
    code = Code("python", b"total = add(len(first) + 1, len(second))\n")
    at = code.data.index(b")")
    candidate = Candidate(punctuation.Edit(at, at + 1, b""), "syntax", facts={"token": ")", "change": "missing"})
    assert punctuation.count_alternatives(code, candidate) > 0
    only = Code("go", b"package a\n\nfunc f(a int, b int) {}\n")
    at = only.data.index(b",")
    candidate = Candidate(punctuation.Edit(at, at + 1, b""), "syntax", facts={"token": ",", "change": "missing"})
    assert punctuation.count_alternatives(only, candidate) == 0


@pytest.mark.parametrize("name", ["value", "total_count", "readAll", "HTTPServer", "items"])
def test_a_slip_leaves_the_name_near(name: str) -> None:
    rng = Random(5)
    slips = {misspell(name, rng) for _ in range(60)}
    assert len(slips) > 5
    assert all(edit_distance(name, slip) <= 1 for slip in slips)
    assert all(recase(name, rng).replace("_", "").lower() == name.replace("_", "").lower() for _ in range(10))
    assert len(name) >= SHORTEST


def test_the_same_seed_makes_the_same_candidates() -> None:
    one, other = find_candidates("go", "misspelt_variable"), find_candidates("go", "misspelt_variable")
    assert [apply(code.data, [each.edit]) for code, each in one] == [
        apply(code.data, [each.edit]) for code, each in other
    ]
