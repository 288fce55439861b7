"""What leaving out repeated operators is said to save: on a device by the recorded ones, or not at all."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import UserLine
from gpuprof.model.look import LookedPlace
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.cell.calls_of import call_lines
from gpuprof.rules.needless.looked import line_words
from gpuprof.rules.registry import rule
from gpuprof.whatif.predict import Replay
from tests.rules.cases.needless import repeated_work
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder


def on_device(*, lines: bool) -> Trace:
    """Ten steps of 1 ms: 600 µs of kernels of line 3, which repeats, and 400 µs of line 4. The host runs ahead."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
        for line, name, begin, lasts in ((3, "aten::linalg_inv_ex", 0, 590), (4, "aten::mm", 600, 395)):
            if lines:
                builder.line(line, at + begin / 10)
            builder.operator(name, at + begin / 10, 40)
            builder.kernel(name, at + begin + 5, lasts, launch_at_us=at + begin / 10 + 1)
        builder.sync(at + 110, 889)
    look = LookBuilder(builder).tensor("k")
    for each in range(3):
        look.tensor(f"x{each}")
        look.operator("aten::linalg_inv_ex", 50, reads="k", makes="inverse", line=3, iteration=each)
        look.operator("aten::mm", 50, reads=f"inverse x{each}", makes="y", line=4, iteration=each)
    return look.build()


def found(trace: Trace) -> Finding:
    answer = rule("repeated_work").check(Results(trace))
    assert isinstance(answer, Finding)
    return answer


def test_on_a_device_it_is_what_their_kernels_take() -> None:
    finding = found(on_device(lines=True))
    assert finding.saving is not None and "simulated" in finding.saving.basis
    assert 0.5 < finding.saving.share < 0.7  # 590 of 1,000 µs, though half of the host's time
    assert finding.severity is Severity.HIGH


def test_on_a_device_that_cannot_be_re_timed_it_matters_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replay, "possible", False)
    assert found(on_device(lines=True)).severity is Severity.LOW


def test_on_a_device_without_lines_it_cannot_be_said() -> None:
    finding = found(on_device(lines=False))
    assert finding.saving is None and finding.severity is Severity.LOW
    assert "cannot be said" in finding.explanation


def test_on_the_cpu_the_look_weighs_and_the_recording_times() -> None:
    """Also where the recorded part of the cell does not show it: half of 800 µs of operators in each step."""
    finding = found(repeated_work.looked(50))
    assert finding.saving is not None
    saved = [ns / 1e6 for ns in (finding.saving.low_ns, finding.saving.central_ns, finding.saving.high_ns)]
    assert saved == [4 * 0.6, 4, 5]


def test_lines_are_told_by_their_cell_or_file() -> None:
    assert line_words(None) == "a library"
    assert line_words(UserLine("", 3, "f", True)) == "line 3"
    assert line_words(UserLine("<ipython>", 3, "f", False, 2)) == "line 3 of In [2]"
    assert line_words(UserLine("/home/a/model.py", 3, "f", False)) == "line 3 of model.py"


SOURCE = """
def table(n):
    return [[i * j for i in range(n)] for j in range(n)]

class Net:
    def forward(self, x):
        t = table(3)
        return x, self.table(t)

t = table(4)
"""


def test_the_call_is_looked_for_in_the_function_that_uses_its_result() -> None:
    assert call_lines(SOURCE, "table", "Net.forward") == (7, 8)
    assert call_lines(SOURCE, "table", "<module>") == (7, 8, 10)
    assert call_lines(SOURCE, "other", "Net.forward") == call_lines(SOURCE, "table", "Net.backward") == ()
    assert call_lines("def f(:", "f", "<module>") == ()


def test_the_function_to_keep_the_result_of_is_named_with_its_call() -> None:
    trace = repeated_work.looked(50)
    look = trace.context.look
    assert look is not None
    places = (LookedPlace("", 3, "table"), LookedPlace("", 7, "Net.forward"))

    context = msgspec.structs.replace(
        trace.context,
        look=msgspec.structs.replace(look, places=places),
        cell=msgspec.structs.replace(trace.context.cell, source=SOURCE),
    )

    finding = found(dataclasses.replace(trace, context=context))
    assert "Keep the result of `table()`, called in line 7 (16.0 KiB), which line 7 uses." in finding.change
    assert finding.where.lines == (3, 7, 8)
