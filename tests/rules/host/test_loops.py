"""What the rules about Python loops and single numbers say in the cases that differ."""

from __future__ import annotations

import copy
import re

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import judge, rule
from tests.rules.cases.host import python_loop_over_slices, tensor_by_element
from tests.rules.cases.host.python_loop_over_batch import TURN
from tests.rules.cases.host.python_loop_over_slices import SOURCE
from tests.rules.cases.host.python_loop_over_slices import loops as slice_loops
from tests.rules.cases.host.python_loop_over_weights import steps
from tests.rules.cases.host.tensor_by_element import ACCESS, filled
from tests.support.trace_builder import TraceBuilder

SLICES, ELEMENT = "python_loop_over_slices", "tensor_by_element"
TYPES = '["float", "float", "Scalar"]'


def finding(name: str, trace: Trace) -> Finding:
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding), found
    return found


def test_a_loop_over_the_batch_is_another_rules() -> None:
    """GIVEN sixteen samples, one by one WHEN the text shows as well that no turn needs another."""
    trace = slice_loops(sizes=(16, 8, 32), dimension=0, batch_size=16, source=SOURCE.replace("[:, kind]", "[kind]"))
    assert rule(SLICES).check(Results(trace)) is None
    assert finding("python_loop_over_batch", trace).evidence["turns_per_loop"] == 16


WHOLE = SOURCE.replace("[:, kind]", "[kind]")


def _without_loader(source: str, *, compared: str = "16", loss: str = "aten::mse_loss", every: int = 1) -> Trace:
    """Sixteen rows, one by one, in each of five steps; in one of `every` steps a loss of that many."""
    case = slice_loops(sizes=(16, 8, 32), dimension=0, batch_size=None, source=source)
    builder = TraceBuilder().context(cell=case.context.cell).operator("aten::stack", 0, 1)
    for number, at in enumerate(range(0, 5000, 1000)):
        builder.step(at, 1000)
        for place in range(64):
            name, turn = python_loop_over_slices.TURN[place % 4], place // 4
            given = {"dims": "[[16, 8, 32], [], []]", "values": f'["", "0", "{turn}"]'} if place % 4 == 0 else {}
            builder.operator(name, at + 100 + 10 * place, 9, **given)
        if number % every == 0:
            builder.operator(loss, at + 900, 20, dims=f"[[{compared}], [{compared}], []]")
    return builder.operator("aten::mean", 4999, 1).build()


def test_without_a_loader_a_batch_is_what_the_loss_compares() -> None:
    trace = _without_loader(WHOLE)
    found = finding("python_loop_over_batch", trace)
    assert found.where.lines == (6,)
    assert "The loss is computed of as many, and no turn needs another" in found.explanation
    assert rule(SLICES).check(Results(trace)) is None


def test_steps_of_a_batch_and_samples_of_sequences_look_the_same() -> None:
    trace = _without_loader(WHOLE, compared="16, 8")
    assert isinstance(rule("python_loop_over_batch").check(Results(trace)), Abstention)
    assert finding(SLICES, trace).evidence["dimension"] == 0


@pytest.mark.parametrize(
    "trace",
    [
        _without_loader(WHOLE, compared="32"),
        _without_loader(WHOLE, loss="aten::sub"),
        _without_loader(WHOLE, every=3),
        _without_loader(WHOLE.replace("loss = loss + ", "loss = loss * 0.9 + ")),
        _without_loader(""),
    ],
    ids=["of others", "no loss", "in two of five steps", "a recurrence", "no text"],
)
def test_without_a_loader_a_loop_over_time_looks_the_same(trace: Trace) -> None:
    answer = rule("python_loop_over_batch").check(Results(trace))
    assert isinstance(answer, Abstention)
    assert "the batch size" in answer.needs


def test_two_loops_over_the_batch_are_one_finding() -> None:
    """GIVEN pairs of the sixteen samples of a batch, row by row, with a stack after each row."""
    builder = TraceBuilder().context(loaders=(Loader(workers=0, batch_size=16),)).operator("aten::stack", 0, 1)
    for step in range(3):
        builder.step(10_000 * step, 10_000)
        for place in range(16 * 16):
            row, turn = divmod(place, 16)
            at = 10_000 * step + 600 * row + 30 * turn
            for part, index in enumerate((row, turn)):
                values = f'["", "0", "{index}"]'
                builder.operator("aten::select", at + 10 * part, 10, dims="[[16, 8], [], []]", values=values)
            builder.operator("aten::dist", at + 20, 10)
            if turn == 15:
                builder.operator("aten::stack", at + 30, 100)
    found = finding("python_loop_over_batch", builder.operator("aten::mean", 29_999, 1).build())
    assert (found.evidence["turns_per_loop"], found.evidence["loops_in_a_row"]) == (16, 16)
    assert found.evidence["loop_ms"] == pytest.approx(3 * (15 * 0.6 + 0.48))
    assert found.saving is not None
    assert found.saving.high_ns == pytest.approx(3 * 9.48e6 * (1 - 1 / 256))
    assert "once a sample as well" in found.explanation


def test_the_first_dimension_may_be_something_else() -> None:
    trace = slice_loops(sizes=(16, 8, 32), dimension=0, batch_size=8, source=SOURCE.replace("[:, kind]", "[kind]"))
    assert finding(SLICES, trace).evidence["dimension"] == 0


@pytest.mark.parametrize(("size", "spoken_of"), [(16, True), (18, True), (19, False), (15, False), (64, False)])
def test_the_whole_dimension_is_walked_along(size: int, spoken_of: bool) -> None:
    answer = rule(SLICES).check(Results(slice_loops(sizes=(8, size, 32))))
    assert isinstance(answer, Finding) == spoken_of
    assert spoken_of or answer is None


def test_without_the_text_nobody_knows_whether_turns_need_one_another() -> None:
    answer = rule(SLICES).check(Results(slice_loops(source=None)))
    assert isinstance(answer, Abstention)
    assert "text" in answer.needs


@pytest.mark.parametrize(
    "body",
    [
        "loss = loss + score(likely[:, kind] * weights).sum()",
        "loss = loss * 0.9 + (likely[:, kind] * weights).sum()",
        "loss = loss + (likely[:, kind] * weights).sum()\n        if loss > 3:\n            break",
    ],
    ids=["unknown call", "discounted", "ends early"],
)
def test_what_may_be_a_recurrence_is_not_spoken_of(body: str) -> None:
    source = SOURCE.replace("loss = loss + (likely[:, kind] * weights).sum()", body)
    assert source != SOURCE
    assert rule(SLICES).check(Results(slice_loops(source=source))) is None
    assert rule(SLICES).check(Results(slice_loops(source=source, sizes=None))) is None


def test_ranges_that_leave_out_a_class_are_loops_over_classes() -> None:
    trace = slice_loops(15, sizes=(8, 16, 32))
    assert finding(SLICES, trace).saving is not None


def test_a_device_that_is_busy_all_the_while_is_not_held_up() -> None:
    case = python_loop_over_slices.fires()
    builder = TraceBuilder().operator("aten::stack", 0, 1)
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).kernel("gemm", at + 5, 990, launch_at_us=at)
    busy = builder.build()
    operators = {name: case.tables[name] for name in ("operators", "threads")}
    trace = Trace(
        **{**vars(case), "tables": {**busy.tables, **operators, "steps": case.steps}, "device_recorded": True}
    )
    assert rule(SLICES).check(Results(trace)) is None


@pytest.mark.parametrize(
    ("names", "done"),
    [
        (ACCESS, "written one"),
        (("aten::select", "aten::item"), "read one"),
        (("aten::select", "aten::item", *ACCESS), "written and read one"),
    ],
)
def test_advice_differs_for_numbers_read_and_written(names: tuple[str, ...], done: str) -> None:
    found = finding(ELEMENT, filled(125, names))
    assert done in found.title
    assert ("].tolist()" in found.change) == ("read" in done)
    assert ("torch.tensor(values)" in found.change) == ("written" in done)


def test_rows_that_are_written_are_no_numbers() -> None:
    names = ("aten::select", "aten::copy_")
    assert rule(ELEMENT).check(Results(filled(125, names, dims="[[64], [64], []]"))) is None
    assert finding(ELEMENT, filled(125, names, dims="[[], [], []]")).evidence["writes"] == 625


def test_a_table_made_once_is_no_habit() -> None:
    """GIVEN six steps of which one fills a table."""
    builder = TraceBuilder()
    for place in range(200):
        for part, name in enumerate(ACCESS):
            builder.operator(name, 100 + 4 * place + part, 1)
    for at in range(0, 6000, 1000):
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
    assert rule(ELEMENT).check(Results(builder.operator("aten::mean", 5999, 1).build())) is None


def test_numbers_are_the_cause_of_a_loop_over_slices() -> None:
    """GIVEN sixteen turns that each fill eight numbers WHEN both rules find the same time THEN one of them speaks."""
    found = {each.rule for each in judge(Results(tensor_by_element.fires()), strict=True).findings}
    assert found == {ELEMENT}


def _on_device(reads: bool) -> Trace:
    """Steps of 2 ms: 125 numbers of 8 µs each, every one a copy of its own that the host waits for; then a kernel."""
    builder = TraceBuilder().operator("aten::zeros", 0, 1)
    for at in range(0, 16_000, 2000):
        builder.step(at, 2000)
        for place in range(125):
            begin = at + 20 + 8 * place
            builder.operator("aten::select", begin, 1)
            builder.operator("aten::item" if reads else "aten::copy_", begin + 2, 5, dims="[[], [], []]", types=TYPES)
            way = "d2h" if reads else "h2d"
            builder.copy(way, begin + 5, 1, bytes=4, host_memory="pageable", launch_at_us=begin + 3, launch_for_us=1)
            builder.sync(begin + 4, 2.5)
        builder.operator("aten::mm", at + 1100, 10).kernel("gemm", at + 1120, 700, launch_at_us=at + 1102)
        builder.operator("aten::item", at + 1200, 700).sync(at + 1210, 612)
    return builder.operator("aten::mean", 15_999, 1).build()


@pytest.mark.parametrize("reads", [True, False], ids=["read", "written"])
def test_on_a_device_the_numbers_are_the_cause_of_their_copies_and_waits(reads: bool) -> None:
    found = judge(Results(_on_device(reads)), strict=True).findings
    named = {each.rule: each for each in found}
    assert ELEMENT in named
    assert not named.keys() & {"small_h2d_copies", "pageable_h2d_copy", "blocking_h2d_copy", "launch_bound"}
    saving = named[ELEMENT].saving
    assert saving is not None and saving.basis.startswith("simulated")
    assert saving.central_ns == pytest.approx(8 * 125 * 8e3, rel=0.1)


def test_turns_of_a_loop_over_the_batch_are_a_mean() -> None:
    """GIVEN three steps of 16, 16 and 15 turns: the last turn of one may look different."""
    builder = TraceBuilder().operator("aten::stack", 0, 1).context(loaders=(Loader(workers=0, batch_size=16),))
    for number, turns in enumerate((16, 16, 15)):
        at = number * 1000
        builder.step(at, 1000).operator("aten::linear", at + 20, 10)
        for place in range(turns * len(TURN)):
            turn, name = divmod(place, len(TURN))
            dims, values = ("[[16, 8], [], []]", f'["", "0", "{turn}"]') if name == 0 else (None, None)
            builder.operator(TURN[name], at + 100 + place * 10, 10, dims=dims, values=values)
    found = finding("python_loop_over_batch", builder.operator("aten::mean", 2999, 1).build())
    assert found.evidence == {
        "loop_ms": pytest.approx(1.41),
        "loop_share": pytest.approx(0.47),
        "turns_per_loop": 15.7,
        "loops": 3,
        "operators_per_turn": 3,
        "operators": "aten::select, aten::mm, aten::relu",
    }


def test_a_loop_over_the_entries_of_a_state_dict_is_over_the_weights() -> None:
    """GIVEN twelve weights that are trained, and a `state_dict()` of twenty entries, which detaches each of them."""
    found = finding("python_loop_over_weights", steps(("aten::clone",), 20, before=("aten::detach",) * 20))
    assert (found.evidence["operators"], found.evidence["turns_per_loop"]) == ("aten::clone", 20)
    assert found.evidence["weights"] == 12


@pytest.mark.parametrize("before", [(), ("aten::view",) * 20, ("aten::detach",) * 25])
def test_another_loop_of_as_many_turns_or_entries_of_other_number_do_not_make_it_one(before: tuple[str, ...]) -> None:
    trace = steps(("aten::clone",), 20, before=before)
    assert rule("python_loop_over_weights").check(Results(trace)) is None


@pytest.mark.parametrize(("mib", "told"), [(8, True), (0.01, False)])
def test_a_loop_that_brings_the_weights_to_the_host_says_so(mib: float, told: bool) -> None:
    """GIVEN an average that lives on the host: each of twelve weights is copied there, five steps of them."""
    builder = TraceBuilder().device()
    for number, at in enumerate(range(0, 5000, 1000)):
        builder.step(at, 1000).operator("aten::linear", at + 100, 100, sequence=number)
        builder.operator("autograd::engine::evaluate_function: AddmmBackward0", at + 300, 100, sequence=number)
        for weight in range(12):
            builder.operator("torch::autograd::AccumulateGrad", at + 400 + weight * 5, 5)
        builder.optimizer_step("SGD", at + 500, 50)
        for weight in range(12):
            begin = at + 600 + weight * 30
            builder.operator("aten::mul_", begin, 5).operator("aten::to", begin + 5, 20)
            builder.operator("aten::add_", begin + 25, 5)
            builder.copy("d2h", begin + 10, 8, bytes=int(mib * 2**20), launch_at_us=begin + 6, launch_for_us=3)
    found = rule("python_loop_over_weights").check(Results(builder.operator("aten::mean", 4999, 1).build()))
    assert isinstance(found, Finding)
    assert ("which copies them to the host" in found.title) is told
    assert ("They copy 96.0 MiB to the host each time." in found.explanation) is told
    assert found.change.startswith("Keep what the loop updates on the device") is told
    assert found.evidence.get("to_host_bytes_per_step") == (12 * 8 * 2**20 if told else None)


@pytest.mark.parametrize(
    "names", [("aten::mul_", "aten::add_"), ("aten::clamp_",), ("aten::clone",)], ids=["average", "clamp", "copy"]
)
def test_one_call_for_all_weights_runs_as_it_is_written(names: tuple[str, ...]) -> None:
    change = finding("python_loop_over_weights", steps(names, 12)).change
    net = torch.nn.Linear(3, 2)
    ema, kept = copy.deepcopy(net), [each.detach().clone() for each in net.parameters()]
    net(torch.ones(3)).sum().backward()
    with torch.no_grad():
        net.bias.fill_(1.0), net.weight.fill_(-2.0)
    known = {"torch": torch, "net": net, "ema": ema, "kept": kept, "decay": 0.0, "low": -1.0}
    pieces = [each for each in re.findall(r"`([^`]+)`", change) if "parameters()" in each]
    assert pieces and ("_foreach_clamp_max_" in change) is (names == ("aten::clamp_",))
    for piece in pieces:
        exec(piece, known)
    got = {"aten::mul_": list(ema.parameters()), "aten::clone": kept}.get(names[0])
    wanted = [each.detach() for each in net.parameters()]
    assert got is None or all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
    assert float(net.weight.detach().min()) == (-1.0 if got is None else -2.0)
