"""What is told of a part of an iteration, and of lines that are called several times, in programs that really run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.needless.hardly_read import HardlyRead
from tests.analyses.accounts.cells import line
from tests.rules.cases.needless.hardly_read import first_of_sort, looked
from tests.rules.needless.test_product_order import looked_cell
from tests.rules.needless.unread_runs import even
from tests.support.look_builder import LookBuilder
from tests.support.trace_builder import TraceBuilder


def judged(line_ms: float, times: int = 3) -> Finding | Abstention | None:
    """Line 3 makes 40 positions, line 4 reads one; line 3 has so much of a second. A part of an iteration was seen."""
    builder = TraceBuilder().operator("aten::mm", 0, 1_000)
    builder.stack(0, 1_000 * line_ms, line(3)).stack(1_000 * line_ms, 1_000 * (1_000 - line_ms), line(4))
    look = LookBuilder(builder).tensor("weight", shape=(64, 100))
    for each in range(times):
        look.tensor("hidden", shape=(320, 64))
        look.operator("aten::mm", 50, reads="hidden weight", makes="logits", shape=(320, 100), line=3, iteration=0)
        look.part("last", "logits", shape=(8, 100), strides=(4000, 1), offset=3900)
        look.operator("aten::exp", 50, reads="last", makes=f"y{each}", shape=(8, 100), line=4, iteration=0)
        look.free("logits")
    return HardlyRead().check(Results(look.build(operators_share=0.3, ended_by="seconds")))


def test_a_part_of_an_iteration_that_shows_it_three_times() -> None:
    found = judged(400)
    assert isinstance(found, Finding) and found.saving is not None and found.saving.of_cell
    assert found.severity is Severity.HIGH
    assert found.saving.share == pytest.approx(0.4 * 39 / 40, rel=0.01)


def test_lines_that_take_little_of_the_cell() -> None:
    assert isinstance(judged(40), Abstention)
    few = judged(80)
    assert isinstance(few, Finding) and few.severity is Severity.LOW


def test_twice_is_not_often() -> None:
    assert isinstance(judged(400, times=2), Abstention)


def test_without_samples_the_share_is_not_known() -> None:
    assert isinstance(HardlyRead().check(Results(looked(50, operators_share=0.3))), Abstention)


def said(source: str) -> Finding:
    found = HardlyRead().check(Results(even(looked_cell(source, "step()"))))
    assert isinstance(found, Finding)
    return found


STACK = """import torch; torch.manual_seed(0)
nn = torch.nn
blocks = nn.ModuleList(nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True) for _ in range(DEPTH))
head, inputs, kept = nn.Linear(32, 10), torch.randn(4, 16, 32), []
def forward(x):
    for b in blocks:
        x = b(x)
    return head(x[:, 0])
def step():
    with torch.no_grad():
        kept.append(forward(inputs).argmax(1))
"""
LAYER = "compute queries, output and MLP only for what line 8 takes"


def test_of_a_stack_of_layers_only_the_last_one_is_not_read_and_its_keys_are() -> None:
    found = said(STACK.replace("DEPTH", "3"))
    assert found.title == "Part of what line 7 computes in the last of 3 calls is never read"
    assert "elements (6.2 %) are read in the last of 3 calls. Line 8 takes them." in found.explanation
    assert (
        found.change.startswith(f"In the last of these layers, {LAYER}") and "Keys and values need all" in found.change
    )


def test_one_layer_of_attention_needs_all_positions_too() -> None:
    found = said(STACK.replace("DEPTH", "1"))
    assert found.title == "Part of what line 7 computes is never read"
    assert found.change.startswith(f"In this layer, {LAYER}")


PLACES = """import torch; torch.manual_seed(0)
nn = torch.nn
graph, h = torch.rand(64, 64), torch.rand(64, 32)
layers, kept = [torch.rand(32, 32) for _ in range(3)], []
def layer(h, w):
    return (h @ w).relu()
def step():
    a = graph @ layer(h, layers[0])
    b = graph @ layer(a, layers[1])
    c = layer(b, layers[2])
    kept.append(c[:4].exp())
"""


def test_of_a_line_that_is_reached_in_several_ways() -> None:
    found = said(PLACES)
    assert found.title == "Most of what line 6 computes in the last of 3 calls is never read"
    assert found.change == (
        "At line 6 in the last of 3 calls, select what line 11 takes before the computation, not after it. The other "
        "calls need all of it."
    )


def test_some_calls_that_are_not_the_last_one() -> None:
    first = PLACES.replace("layer(b, layers[2])", "layer(h, layers[2])")
    swapped = first.replace("    a = ", "    c = layer(h, layers[2])\n    a = ").replace(
        "    c = layer(h, layers[2])\n    k", "    k"
    )
    assert "computes in one of 3 calls" in said(f"{swapped}    kept.append(b)\n").title
    two = PLACES.replace("    kept", "    d = layer(b, layers[0])\n    kept.append(d[:4].exp())\n    kept")
    assert "computes in 2 of 4 calls" in said(two).title


def test_a_line_that_does_much_else() -> None:
    source = """import torch; torch.manual_seed(0)
body, head = torch.rand(64, 64), torch.nn.Linear(32, 32)
h, kept = torch.rand(64, 32), []
def step():
    y = head(body @ (body @ (body @ (body @ h))))
    kept.append(y[-1:].exp())
"""
    found = said(source)
    assert found.title == "Part of what line 5 computes is never read"
    assert found.change.startswith("Inside what line 5 calls, select what line 6 takes before `addmm`, not after it")


SORTED = """import torch; torch.manual_seed(0)
x, kept = torch.rand(40, 300), []
def step():
    s = CALL
    kept.append(s.exp())
"""


@pytest.mark.parametrize(
    ("call", "first", "last"),
    [
        ("x.sort(dim=1).values[:, :5]", "dim=1, largest=False", "dim=1"),
        ("x.sort(dim=1, stable=True)[0][:, :5]", "dim=1, largest=False", "dim=1"),
        ("x.argsort(descending=True)[:, :5]", "dim=-1", "dim=-1, largest=False"),
        ("torch.msort(x)[:5]", "dim=0, largest=False", "dim=0"),
    ],
)
def test_the_first_ones_of_a_sort_by_its_order(call: str, first: str, last: str) -> None:
    change = said(SORTED.replace("CALL", call)).change
    assert f"`x.topk(k, {first})` for the first k of the sort, `x.topk(k, {last})` for the last k" in change


def test_the_order_of_a_sort_may_not_be_known() -> None:
    trace = first_of_sort()
    unknown = trace.looked_operators.replace(arguments=[-1] * len(trace.looked_operators))
    found = HardlyRead().check(Results(replace(trace, tables={**trace.tables, "looked_operators": unknown})))
    assert isinstance(found, Finding)
    assert "use `x.topk(k, largest=False)` for the k smallest, `x.topk(k)` for the k largest" in found.change


@pytest.mark.parametrize(("more", "edited"), [("", True), ("    kept.append(parts(square).U.exp())\n", False)])
def test_a_line_that_others_need_all_of_is_not_edited(more: str, edited: bool) -> None:
    source = f"""import torch; torch.manual_seed(0)
tall, square, kept = torch.rand(200, 20), torch.rand(200, 190), []
def parts(a):
    return torch.linalg.svd(a)
def step():
{more}    u, s, v = parts(tall)
    kept.append(u[:, :20].exp() * s)
"""
    found = said(source)
    assert ("Pass `full_matrices=False` at line 4: " in found.change) is edited
    assert (found.diff is not None) is edited


CROPS = """import torch; torch.manual_seed(0)
volume, kept = torch.rand(16, 16, 16), []
def augment(v):
    return (v * 1.1).clamp(0, 1)
def step():
    whole = augment(volume)
    z, y = 2, 3
    kept.append(whole[z:z + 4, y:y + 4].clone())
"""


def test_what_chooses_the_part_has_to_be_known_there() -> None:
    told = said(CROPS).change
    assert "Select the part, `[z:z + 4, y:y + 4]`, before line 6 calls `augment()`, whose line 4 computes" in told
    assert told.endswith("Line 7 makes the index: move that up, and take the shape from the input.")


def test_in_the_same_function_the_index_moves_up() -> None:
    source = CROPS.replace("augment(volume)", "(volume * 1.1).clamp(0, 1)")
    assert said(source).change == (
        "Select the part, `[z:z + 4, y:y + 4]`, before line 6 computes the whole, not after it. Line 7 makes the "
        "index: move that up, and take the shape from the input."
    )
