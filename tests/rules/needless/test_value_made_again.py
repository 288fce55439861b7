"""A statement that makes the same value again: how certain it is, and what it advises."""

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.operands import MadeValue, Operand, Operands
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.needless.value_made_again import SOURCE, trials, value
from tests.support.trace_builder import CELL_FILE


def found(*values: MadeValue, source: str = SOURCE, **context: object) -> Finding:
    trace = trials(40, *values, source=source)
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, **context))
    answer = rule("value_made_again").check(Results(trace))
    assert isinstance(answer, Finding)
    return answer


@pytest.mark.parametrize(
    ("call", "kind", "severity"),
    [
        ("np.stack(table)", None, Severity.HIGH),
        ("env.reset()", None, Severity.LOW),
        ("env.reset()", "__main__.Simulation", Severity.LOW),
        ("scaler.fit_transform(table)", "sklearn.preprocessing._data.StandardScaler", Severity.HIGH),
        ("table.groupby(key).mean()", "pandas.core.frame.DataFrame", Severity.HIGH),
    ],
)
def test_a_method_of_an_object_that_may_keep_a_state_is_not_sure(
    call: str, kind: str | None, severity: Severity
) -> None:
    name = call.partition(".")[0]
    seen = Operand(file=CELL_FILE, first=1, last=3, name=name, kind=kind or "", looks=9)
    operands = Operands(looks=9, seen=(seen,) if kind else ())
    assert found(source=SOURCE.replace("features(table)", call), operands=operands).severity is severity


def test_what_the_notebook_imports_is_no_such_object() -> None:
    source = "import signal_tools as tools\n" + SOURCE.replace("features(table)", "tools.spectrum(table)")
    assert found(value(first=2), source=source).severity > Severity.LOW


def test_a_cell_that_times_its_calls_repeats_them_on_purpose() -> None:
    timing = "for _ in range(9):\n    began = perf_counter()\n    call()\n    print(perf_counter() - began)\n"
    assert found(source=SOURCE + timing).severity is Severity.LOW


def test_several_contents_are_kept_by_what_they_depend_on() -> None:
    finding = found(value(contents=4))
    assert "with only 4 different contents" in finding.explanation
    assert "keep the results (312 KiB): in a dict" in finding.change


def test_what_takes_much_memory_is_not_kept_lightly() -> None:
    assert found(value(contents=4, bytes=600 << 20)).severity is Severity.LOW
    assert found(value(contents=4, bytes=100 << 20)).severity > Severity.LOW


def test_an_argument_is_told_with_its_function() -> None:
    source = """def trial(rate):
    return train(np.fit(table), rate)

for rate in rates:
    scores.append(trial(rate))

def train(x, rate):
    return fit(x)
"""
    finding = found(value(function="train", first=7), source=source)
    assert finding.explanation == (
        "In line 2 in `trial`, `np.fit` takes 400 ms, 40 % of the cell. The argument `x` of `train` was computed at "
        "least 10 times, always with the same content (ndarray, 78.1 KiB)."
    )
    assert finding.change == (
        "Compute the argument `x` of `train` once, before the loop that repeats it, and pass it on."
    )


@pytest.mark.parametrize(("line", "said"), [("torch.manual_seed(7)", True), ("rng = default_rng(7)", False)])
def test_what_seeds_generators_on_the_way(line: str, said: bool) -> None:
    source = f"{SOURCE}\ndef features(table):\n    {line}\n    return table\n"
    for values in ((), (value(contents=4),)):
        change = found(*values, source=source).change
        assert change.endswith(" It also seeds the generators: seed in each iteration as before.") is said


def test_a_cache_takes_only_what_has_a_hash() -> None:
    change = found(value(contents=4)).change
    assert "or, where all arguments are numbers, strings or tuples of them, with `functools.cache`." in change
