"""The small faults that the tests are tried with: where they are, what they are, and what is left out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.mutation.choice import Choice
from benchmarks.mutation.mutants import Mutant, all_places, mutants_of, sample
from benchmarks.mutation.record import FileRecord
from benchmarks.mutation.report import CAUGHT, EQUIVALENT, SURVIVED, Verdict, equivalents, page, share_caught

ROOT = Path(__file__).resolve().parents[2]


def changes(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "gpuprof" / "rules" / "deep" / "small.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    found = [mutant for place in mutants_of(file, tmp_path) for mutant in place]
    for mutant in found:
        ast.parse(mutant.applied(file.read_bytes()))
    return [mutant.change for mutant in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = b < c", ["< -> <=", "< -> >="]),
        ("a = b is not c", ["is not -> is"]),
        ("a = b not in (c)", ["not in -> in"]),
        ("a = (b) + (c)", ["+ -> -"]),
        ("a = b ** c // d", ["** -> *", "// -> /"]),
        ("a -= b", ["-= -> +="]),
        ("a = b and (c or d)", ["and -> or", "or -> and"]),
        ("a = not(b), not c", ["not -> nothing", "not -> nothing"]),
        ("a = ~b", ["~ -> nothing"]),
        ("a = 5, 3.0, 0", ["5 -> 6", "5 -> 7", "3.0 -> 4.0", "3.0 -> 4.5", "0 -> 1"]),
        ("a = True", ["True -> False"]),
        ("a = max(b)", ["max -> min"]),
        ("a = np.floor(b).any()", ["floor -> ceil", "any -> all"]),
        ("def f():\n    return a", ["a -> None"]),
        ("def f():\n    return False", ["False -> True"]),
        ("for a in b:\n    break", ["break -> continue"]),
        ("if a.b:\n    c", ["a.b -> not a.b"]),
        ("é = 'é' if a else b < c", ["a -> not a", "< -> <=", "< -> >="]),
        # left out
        ("a = 'b' + f'{c + 1}'", []),
        ("a: int | None = b", []),
        ("def f(a: int | None = b) -> int | None:\n    '''1 + 1'''", []),
        ("@dataclass(frozen=True)\nclass A:\n    pass", []),
        ("if TYPE_CHECKING:\n    import a", []),
        ("class A:\n    def __repr__(self):\n        return 1 + 1", []),
        ("a = zip(b, c, strict=True)", []),
        ("a = b.reshape(-1)", []),
    ],
)
def test_what_is_changed(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert changes(tmp_path, text) == expected


def test_a_fault_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    text = "x = 'é'  # a < b\nif a <  b :  pass\n"
    file = tmp_path / "gpuprof" / "rules" / "small.py"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    first = mutants_of(file, tmp_path)[0][0]
    assert first.applied(text.encode()).decode() == text.replace("a <  b", "a <=  b")
    assert first.key == ("rules/small", "if a <  b :  pass", "< -> <=")
    assert (first.line, first.body) == (2, False)


def test_samples_are_the_same_for_a_seed_and_come_from_every_package() -> None:
    places = all_places(ROOT, ["rules", "whatif", "ingest"])
    chosen = sample(places, 100, 5)
    assert chosen == sample(places, 100, 5) != sample(places, 100, 6)
    assert len(chosen) == 100
    assert all(sum(each.package == name for each in chosen) >= 20 for name in places)


def mutant(line: int, *, body: bool = True, path: str = "gpuprof/rules/a.py") -> Mutant:
    return Mutant("rules", "rules/a", path, line, (line, line + 1), body, (0, 1), "<", "<=", "a < b")


def test_the_tests_that_run_a_line_are_asked_the_likely_and_quick_ones_first() -> None:
    lines = {5: {"t::slow", "t::quick", "tests/rules/test_a.py::own"}, 6: {"t::other"}, 9: {"t::far"}}
    seconds = {"t::slow": 2.0, "t::quick": 0.1, "tests/rules/test_a.py::own": 1.0, "t::other": 0.2, "t::far": 0.1}
    choice = Choice([FileRecord(seconds, {"gpuprof/rules/a.py": lines})], ROOT)
    assert choice.of(mutant(5)) == ["tests/rules/test_a.py::own", "t::quick", "t::slow"]
    assert choice.of(mutant(4)) == ["tests/rules/test_a.py::own", "t::quick", "t::slow"]  # by its statement
    assert choice.of(mutant(7)) == [] and choice.batches(mutant(7)) == []
    assert len(choice.of(mutant(1, body=False))) == 5
    seconds["tests/rules/test_b.py::reads"] = 0.1
    reading = Choice([FileRecord(seconds, {"gpuprof/rules/a.py": lines})], ROOT)
    assert reading.batches(mutant(1, body=False))[1:] == [["tests/rules/test_b.py::reads"]]
    assert len(reading.batches(mutant(5))) == 1


def test_the_report_counts_what_is_equivalent_apart(tmp_path: Path) -> None:
    listed = tmp_path / "equivalent.toml"
    listed.write_text(
        '[[equivalent]]\nmodule = "rules/a"\nline = "a < b"\nchange = "< -> <="\nreason = "never equal"\n'
    )
    assert equivalents(listed) == {("rules/a", "a < b", "< -> <="): "never equal"}
    verdicts = [
        Verdict(mutant(5), CAUGHT, "t"),
        Verdict(mutant(6), CAUGHT, "t"),
        Verdict(mutant(7), SURVIVED, "", 3),
        Verdict(mutant(8), EQUIVALENT, "never equal"),
    ]
    assert share_caught(verdicts) == pytest.approx(2 / 3)
    text = page(verdicts, command="python -m x", seed=4, seconds=120)
    assert "| rules | 4 | 2 | 1 | 1 |" in text and "**66.7%**" in text and "took 2 minutes" in text
    assert "| rules/a.py:7 | `` a < b `` | `` < -> <= `` | 3 |" in text
    assert "| rules/a.py:8 | `` < -> <= `` | never equal |" in text
