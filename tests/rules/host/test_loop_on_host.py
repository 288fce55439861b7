"""Which loops are handled element by element, which only look so, and which findings they take the place of."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import judge, rule
from tests.rules.cases.host.loop_on_host import TURNS, looped, run_of
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def check(trace: Trace) -> Finding | None:
    answer = rule("loop_on_host").check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer


def rules(trace: Trace) -> set[str]:
    return {each.rule for each in judge(Results(trace), strict=True).findings}


@pytest.mark.parametrize(
    "working",
    [
        *("aten::linear", "aten::addmm", "aten::conv2d", "aten::_convolution", "aten::gru_cell", "aten::embedding"),
        *("aten::scaled_dot_product_attention", "aten::multinomial", "aten::randn_like", "aten::linalg_cholesky_ex"),
        *("aten::batch_norm", "Torch-Compiled Region: 0/0", "vllm::attend", "CompiledFunction::run"),
    ],
)
def test_models_samplers_and_what_is_not_torchs_need_one_iteration_after_the_other(working: str) -> None:
    assert check(looped(working=working)) is None


@pytest.mark.parametrize("working", ["aten::mul", "aten::logsumexp", "aten::nonzero", "aten::linalg_vector_norm"])
def test_other_work_on_parts_is_found(working: str) -> None:
    assert check(looped(working=working)) is not None


def test_a_loop_on_whole_tensors_may_be_a_recurrence() -> None:
    """A solver that looks each time whether it may stop."""
    assert check(looped(taking="aten::exp")) is None


def test_what_only_reads_needs_no_parts() -> None:
    assert check(looped(taking="aten::detach", working="aten::view")) is not None


def test_a_model_on_its_way_to_the_device_reads_nothing() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 10).kernel("gemm", 6, 1000, launch_at_us=2)
    for turn in range(30):
        at = 1100 + 100 * turn
        builder.operator("aten::to", at, 90).copy("h2d", at + 40, 10, launch_at_us=at + 5, host_memory="pageable")
        builder.sync(at + 12, 40)
    assert check(builder.build()) is None


def written(body: str, **differing: str) -> Trace:
    """The loop in the cell, with looks at its body."""
    builder = run_of(**differing).context(cell=Cell(source=f"x, h, net = make()\nfor i in range(20):\n    {body}\n"))
    for turn in range(TURNS):
        builder.look(7_000 + 150 * turn + 50, (CELL_FILE, "<module>", 3))
    return builder.build()


def test_a_written_recurrence_is_left_alone() -> None:
    found = check(written("kept.append((x[i] * 2).item())"))
    assert found is not None and found.where.lines[0] == 2
    assert check(written("h = (x[i] * h).item()")) is None


def test_text_may_show_that_a_model_is_given_single_samples() -> None:
    assert check(written("kept.append(F.linear(x[i], w).item())", working="aten::linear")) is not None
    assert check(written("h = F.linear(x[i], h).item()", working="aten::linear")) is None


def test_the_waits_inside_are_not_found_again() -> None:
    alone, results = looped(), Results(looped())
    assert isinstance(rule("sync_in_step").check(results), Finding)
    assert rules(alone) == {"loop_on_host"}


@pytest.mark.parametrize(("reads", "kept"), [(1, False), (12, True)])
def test_what_lies_mostly_elsewhere_is_kept(reads: int, kept: bool) -> None:
    """Reads of 500 µs of idle time each after the loop, which is 3 ms."""
    builder = run_of()
    for read in range(reads):
        at = 10_000 + 800 * read
        builder.kernel(f"gemm{read}", at + 10, 280, launch_at_us=at)
        builder.operator(f"aten::nonzero{read}", at + 20, 300).operator("aten::item", at + 20, 290)
        builder.sync(at + 30, 262)
    builder.kernel("last", 10_000 + 800 * reads, 10, launch_at_us=10_000 + 800 * reads - 5)
    found = rules(builder.build())
    assert "loop_on_host" in found
    assert ("sync_in_step" in found) == kept


def test_a_saving_stays_within_the_loop() -> None:
    for each_us in (30, 150, 300):
        found = check(looped(each_us))
        assert found is not None and found.saving is not None and found.during is not None
        assert 0 < found.saving.low_ns <= found.saving.central_ns <= found.saving.high_ns <= found.during.total_ns


def test_what_is_measured_of_a_loop_in_a_function() -> None:
    found = check(run_of().frame("masks.py(9): encode", 6_500, 3_500).build())
    assert found is not None
    assert found.evidence == {
        "iterations": TURNS,
        "iterations_per_loop": TURNS,
        "loops": 1,
        "loop_ms": pytest.approx(3),
        "loop_share": pytest.approx(0.3),
        "waits": TURNS,
        "kernels": TURNS,
        "copies": TURNS,
        "device_busy_share": pytest.approx(TURNS * 0.005 / 3, abs=1e-4),
        "operators": "aten::select, aten::mul, aten::item",
        "function": "masks.py(9): encode",
    }
