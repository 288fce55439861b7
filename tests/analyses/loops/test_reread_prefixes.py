from __future__ import annotations

import dataclasses

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.reread_prefixes import RereadPrefixes
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import CELL_FILE, TraceBuilder

WRITE = """def write(n):
    ids = [0]
    for _ in range(n):
        out, _ = net(torch.tensor([ids]))
        ids.append(pick(out[0, -1]))
    return ids

net = nn.LSTM(8, 8)
write(900)
"""
JOINED = (
    WRITE.replace("torch.tensor([ids])", "ids")
    .replace("ids.append(", "ids = torch.cat((ids, ")
    .replace("-1]))", "-1])))")
)
LSTM = library("torch/nn/modules/rnn.py", "LSTM.forward")
LINEAR = library("torch/nn/modules/linear.py", "Linear.forward")


def grown(least: int = 3, most: int = 900, *, same: bool = True) -> Operand:
    return Operand(
        file=CELL_FILE, first=1, last=6, name="ids", kind="builtins.list", looks=9, least=least, most=most, same=same
    )


def writing(
    source: str = WRITE,
    *seen: Operand,
    below: tuple[str, str, int] = LSTM,
    for_ms: float = 600,
    line: int = 4,
    builder: TraceBuilder | None = None,
) -> TraceBuilder:
    """Of a second in that module below that line, the rest in training."""
    builder = builder or TraceBuilder()
    builder.operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at = 1 + 100_000 * part
        builder.stack(at, 100 * for_ms, (CELL_FILE, "<module>", 9), (CELL_FILE, "write", line), MODEL, below)
        builder.stack(at + 100 * for_ms, 100_000 - 100 * for_ms, (CELL_FILE, "<module>", 8), MODEL)
    return builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=Operands(looks=9, seen=seen))


def looked(*lengths: int) -> Trace:
    """What line 5 joins in the close look."""
    look = LookBuilder(writing(JOINED))
    for number, each in enumerate(lengths):
        look.tensor("x").operator("aten::cat", 5, reads="x", makes=f"ids{number}", shape=(1, each), line=5)
    return look.build()


def found(trace: Trace) -> Finding | None:
    answer = rule("growing_iterations").check(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


@pytest.mark.parametrize(("most", "known"), [(31, False), (32, True), (None, False)])
def test_a_tensor_that_grew_along_another_axis(most: int | None, known: bool) -> None:
    """Its first axis is the batch."""
    seen = structs.replace(
        grown(8, 8), kind="torch.Tensor", least=None, most=None, fewest_elements=8, most_elements=most
    )
    assert bool(Results(writing(JOINED, seen).build()).get(RereadPrefixes).found) == known


@pytest.mark.parametrize(
    ("joining", "known"),
    [
        ("ids = torch.cat([ids, new], dim=1)", True),
        ("ids = np.concatenate((ids, new), -1)", True),
        # along the batch, or nobody knows; not itself; only sometimes; cut to a window
        ("ids = torch.cat([ids, new], dim=0)", False),
        ("ids = torch.cat([ids, new])", False),
        ("ids = torch.cat([first, new], dim=1)", False),
        ("if new.any(): ids = torch.cat([ids, new], dim=1)", False),
        ("ids = torch.cat([ids, new], dim=1); ids = ids[:, -64:]", False),
    ],
)
def test_a_tensor_that_each_turn_makes_longer_by_the_text(joining: str, known: bool) -> None:
    source = WRITE.replace("torch.tensor([ids])", "ids").replace("ids.append(pick(out[0, -1]))", joining)
    assert bool(Results(writing(source).build()).get(RereadPrefixes).found) == known


def test_a_list_that_grew_and_is_read_in_full() -> None:
    trace = writing(WRITE, grown()).build()
    (each,) = Results(trace).get(RereadPrefixes).found
    assert (each.accumulation.name, each.ns, each.cell_ns, each.first, each.last) == (
        *("ids", 600_000_000, 1_000_000_000),
        *(3, 900),
    )
    answer = found(trace)
    assert answer is not None and answer.severity == Severity.HIGH and answer.saving is not None
    assert answer.title == "A recurrent model reads all of `ids` in each iteration: 60 % of the cell"
    assert "It had 3 items at first, and 900 at last" in answer.explanation
    assert answer.where.lines == (4, 5) and "`out, state = rnn(newest, state)`" in answer.change
    assert answer.saving.share == pytest.approx(0.6 * (1 - 2 / 903))


def test_a_tensor_that_is_longer_by_one_each_time() -> None:
    answer = found(looked(8, 9, 10, 11))
    assert answer is not None and "by the same number in each iteration" in answer.explanation
    for lengths in ((8, 8, 8), (8, 9), (8, 9, 12), (10, 9, 8), ()):
        assert found(looked(*lengths)) is None


PREFIX = """def backtest(series, first):
    preds = []
    for t in range(first, len(series)):
        out, _ = net(series[:t + 1])
        preds.append(out[0, -1])
    return preds

net = nn.LSTM(8, 8)
backtest(series, 300)
"""


def taken(*lengths: int, states: tuple[int, ...] = (), source: str = PREFIX, below: int = 4) -> Trace:
    """What line 4 takes of a series in the close look, and how many rows the first states have that it leads to."""
    look = LookBuilder(writing(source)).tensor("series", shape=(900, 8))
    for number, each in enumerate(lengths):
        look.operator("aten::slice.Tensor", 1, reads="series", makes=f"part{number}", shape=(each, 8), line=4)
        rows = states[number] if states else 1
        look.operator("aten::zeros", 1, makes="h", shape=(1, rows, 8), line=20, by_lines=(below, 9))
        look.operator("aten::mkldnn_rnn_layer", 50, reads=f"part{number} h", makes="y", line=20, by_lines=(below, 9))
    return look.build()


def test_a_series_that_is_read_from_its_beginning_each_time() -> None:
    answer = found(taken(301, 302, 303, 304))
    assert answer is not None and answer.severity == Severity.HIGH
    assert answer.title == "A recurrent model reads all of `series` in each iteration: 60 % of the cell"
    assert answer.explanation.startswith("Line 4 takes `series` from its beginning each time, a longer part of it")
    assert "`out, state = rnn(newest, state)`" in answer.change and answer.where.lines == (4,)


@pytest.mark.parametrize(
    "trace",
    [
        taken(301, 302),
        taken(301, 301, 301, 301),
        taken(300, 100, 50, 25),
        # more rows, not longer ones: the first states are of as many
        taken(301, 302, 303, 304, states=(301, 302, 303, 304)),
        # no state is made, or not below that line
        taken(301, 302, 303, 304, below=6),
        taken(301, 302, 303, 304, source=PREFIX.replace("out, _ = net(series[:t + 1])", "out, _ = net(series[t:])")),
        taken(301, 302, 303, 304, source=PREFIX.replace("    return", "        out.sum().backward()\n    return")),
    ],
)
def test_parts_of_a_series_that_are_not_such_a_prefix(trace: Trace) -> None:
    assert found(trace) is None


@pytest.mark.parametrize(
    "trace",
    [
        # it is not known to grow
        writing(WRITE).build(),
        writing(WRITE, grown(800, 900)).build(),
        # the model keeps its state
        writing(WRITE.replace("[ids]", "[ids[-1:]]"), grown()).build(),
        # it needs both ends
        writing(WRITE.replace("LSTM(8, 8)", "LSTM(8, 8, bidirectional = True)"), grown()).build(),
        # its weights change
        writing(WRITE.replace("    return", "        loss(out).backward()\n    return"), grown()).build(),
        # no recurrent module, and one that another line calls
        writing(WRITE, grown(), below=LINEAR).build(),
        writing(WRITE, grown(), line=6).build(),
        # what is cut back
        writing(WRITE.replace("    return", "        ids = ids[-64:]\n    return"), grown()).build(),
        writing(WRITE, grown(), for_ms=99).build(),
    ],
)
def test_what_need_not_be_read_again_or_has_to_be(trace: Trace) -> None:
    assert found(trace) is None


def test_what_collects_the_results_of_a_recurrent_model_is_not_read_by_it() -> None:
    """`outs` grows by what the model makes of each batch."""
    source = JOINED.replace("out, _ = net(ids)", "pass").replace("pick(out[0, -1])", "net(batch)[0]")
    trace = writing(source, grown(), line=5).build()
    assert Results(trace).get(RereadPrefixes).found == ()


def test_without_stacks_nothing_is_known() -> None:
    trace = TraceBuilder().operator("aten::mm", 0, 10).context(cell=Cell(source=WRITE)).build()
    assert Results(trace).get(RereadPrefixes).found == ()
    unsampled = writing(WRITE, grown()).build()
    bare = dataclasses.replace(unsampled, context=structs.replace(unsampled.context, stacks=None))
    assert Results(bare).get(RereadPrefixes).found == ()
