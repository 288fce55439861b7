"""When the memory of one call is too much, and when it is no fault."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.given_back import GivenBack
from gpuprof.model.context import Cell, Optimizer, Window
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.memory.temporary_peak import TemporaryPeak
from tests.rules.cases.host.costly_call_per_item import library
from tests.rules.cases.memory import broadcast_then_reduced
from tests.rules.cases.memory.temporary_peak import MIB, MS_US, SOURCE, processed
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def severity(trace: Trace, rule: TemporaryPeak | None = None) -> Severity | None:
    answer = (rule or TemporaryPeak()).check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer.severity if answer is not None else None


@pytest.mark.parametrize(
    ("low_mib", "expected"),
    [
        (751, None),
        (749, Severity.LOW),
        (701, Severity.LOW),
        (699, Severity.MEDIUM),
        (501, Severity.MEDIUM),
        (499, Severity.HIGH),
    ],
)
def test_by_the_share_that_is_given_back(low_mib: float, expected: Severity | None) -> None:
    assert severity(processed(low_mib=low_mib).build()) == expected


def test_little_memory_limits_nothing() -> None:
    assert severity(processed(300, low_mib=201).build()) is None
    assert severity(processed(300, low_mib=199).build()) is not None


@pytest.mark.parametrize(
    "header",
    [
        "for part in examples.split(64):",
        "for x, y in DataLoader(examples, 64):",
        "for at in range(0, len(x), 64):",
        "for x, y in zip(xs, ys):",
        "for batch in examples:",
    ],
)
def test_what_goes_over_parts_already(header: str) -> None:
    assert severity(processed(source=SOURCE.replace("for seed in seeds:", header)).build()) is None


def test_a_loop_of_which_no_turns_are_seen_may_go_over_parts() -> None:
    """One turn takes the whole time, as far as readings tell."""
    assert severity(processed(seconds=1).build()) is None
    without = SOURCE.replace("for seed in seeds:", "if True:")
    assert severity(processed(seconds=1, source=without).build()) is Severity.HIGH
    few = SOURCE.replace("for seed in seeds:", "for epoch in range(n_epochs):")
    assert severity(processed(seconds=1, source=few).build()) is Severity.HIGH


def test_the_activations_of_a_training_step_are_no_fault() -> None:
    steps = processed()
    for at in range(50):
        steps.iteration(100_000 * at, 100_000)
    found = steps.context(optimizers=(Optimizer(name="SGD", parameters=2, elements=8, steps=50),)).build()
    assert Results(found).get(GivenBack).in_steps and severity(found) is None


def test_what_a_backward_pass_gives_back_is_no_fault() -> None:
    builder = TraceBuilder()
    for second in range(5):
        for start, lasts, lines in ((0, 800, 2), (800, 200, 3)):
            frames = [(CELL_FILE, "<module>", lines), ("site-packages/torch/_tensor.py", "Tensor.backward", 9)][
                : 4 - lines
            ]
            builder.stack((1000 * second + start) * MS_US, lasts * MS_US, *frames)
        for tenth in range(10):
            held = 400 if tenth in (0, 8, 9) else 1000
            builder.host_sample((1000 * second + 100 * tenth + 50) * MS_US, resident_bytes=held * MIB)
    source = "for epoch in range(5):\n    loss(epoch).backward()\n    rest()\n"
    window = Window(cell_start_ns=0, cell_end_ns=5 * 10**9)
    trace = builder.context(cell=Cell(source=source, filename=CELL_FILE), window=window).build()
    found = Results(trace).get(GivenBack)
    assert found.calls and found.in_steps and severity(trace) is None


def test_a_broadcast_has_a_finding_of_its_own() -> None:
    trace = broadcast_then_reduced.processed(
        source=broadcast_then_reduced.SOURCE.replace("queries.split(128)", "kinds")
    )
    assert severity(trace.build()) is None


def test_where_memory_stays_it_is_not_temporary() -> None:
    trace = processed(low_mib=1000).build()
    assert severity(trace) is None and Results(trace).get(GivenBack).calls == ()


def test_the_change_is_in_the_words_of_the_cell() -> None:
    found = TemporaryPeak().check(Results(processed().build()))
    assert isinstance(found, Finding) and "line 6" in found.change and found.where.lines == (3, 6)


@pytest.mark.parametrize(
    ("path", "function", "words"),
    [
        ("pandas/io/parsers/readers.py", "read_csv", "Read less in line 6: the columns that are used (`usecols`)"),
        ("sklearn/svm/_base.py", "BaseLibSVM.fit", "Fit with less in line 6: float32 input, `partial_fit`"),
        ("numpy/linalg/_linalg.py", "svd", "`full_matrices=False`"),
        ("pandas/core/frame.py", "DataFrame.merge", "Give line 6 less: only the columns that are used"),
    ],
)
def test_a_call_that_needs_all_rows_is_told_something_else(path: str, function: str, words: str) -> None:
    builder = TraceBuilder()
    for second in range(5):
        for start, lasts, frames in (
            (0, 800, ((CELL_FILE, "<module>", 6), library(path, function))),
            (800, 200, ((CELL_FILE, "<module>", 7),)),
        ):
            builder.stack((1000 * second + start) * MS_US, lasts * MS_US, *frames)
        for tenth in range(10):
            held = 400 if tenth in (0, 8, 9) else 1000
            builder.host_sample((1000 * second + 100 * tenth + 50) * MS_US, resident_bytes=held * MIB)
    window = Window(cell_start_ns=0, cell_end_ns=5 * 10**9)
    found = TemporaryPeak().check(
        Results(builder.context(cell=Cell(source=SOURCE, filename=CELL_FILE), window=window).build())
    )
    assert isinstance(found, Finding) and found.severity is Severity.LOW
    assert words in found.change and "for some rows at a time" not in found.change
