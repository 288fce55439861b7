"""Activations of which only reductions are read later: the words, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Optimizer
from gpuprof.model.memory import HeldTensors, ItemPart
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.memory.memory_runs import GIB, allocator, run

LOOP = "outputs = []\nfor x in loader:\n    outputs.append(net(x))\n"
HOOKED = """def keep(module, inputs, output):
    acts.append(output)
handle = net.register_forward_hook(keep)
for x in loader:
    net(x)
handle.remove()
"""


def check(
    source: str, name: str = "outputs", *, steps: int = 0, operands: Operands | None = None, **facts: Any
) -> Finding | Abstention | None:
    """Of 4 GiB in 32 tensors, of a peak of 6 GiB."""
    figures: dict[str, Any] = {"kind": "global", "device": "cuda:0", "bytes": 4 * GIB, "tensors": 32, "graph_bytes": 0}
    held = HeldTensors(name=name, **(figures | {"shape": (64, 128, 4096)} | facts))
    optimizers = (Optimizer(name="SGD", parameters=4, elements=9, steps=steps),) if steps else ()
    memory = allocator(6, 6, allocated_after_bytes=5 * GIB)
    context = {"cell": Cell(source=source), "optimizers": optimizers, "operands": operands}
    builder = run(held=(held,), allocators=(memory,), **context)
    return rule("held_beyond_need").check(Results(builder.build()))


def found(source: str, name: str = "outputs", **facts: Any) -> Finding:
    answer = check(source, name, **facts)
    assert isinstance(answer, Finding)
    return answer


def plain(text: str) -> str:
    return text.replace("\xa0", " ")


def test_means_of_what_a_loop_keeps() -> None:
    finding = found(LOOP + "z = torch.cat(outputs).mean(1)")
    assert plain(finding.title) == "`outputs` holds 4.00 GiB, of which only `mean(1)` is read"
    assert finding.severity is Severity.HIGH and finding.where.lines == (3, 4)
    assert finding.evidence["needless_bytes"] == 4 * GIB * 127 // 128
    assert "32 tensors of up to 64×128×4096. All that is read of them, at line 4, is `mean(1)`" in plain(
        finding.explanation
    )
    assert "at line 3: store `x.mean(1)` in `outputs`" in finding.change
    assert finding.leave_it == "Leave it when another cell needs the whole tensors."


@pytest.mark.parametrize(
    ("uses", "stored"),
    [
        ("z = torch.cat(outputs)[:, 0]", "`x[:, 0].clone()`"),
        ("a, b = torch.cat(outputs).amax(1), torch.cat(outputs).amin(1)", "`x.amax(1)` and `x.amin(1)`"),
        ("z = torch.stack(outputs).mean(0)", "one running result"),
        ("z = torch.stack(outputs).std(2)", "the reduced one"),
    ],
)
def test_what_to_store(uses: str, stored: str) -> None:
    assert f"store {stored} in `outputs`" in found(LOOP + uses).change


def test_a_single_number_may_be_for_show() -> None:
    assert found(LOOP + "print(torch.cat(outputs).mean())").severity is Severity.LOW


def test_what_a_hook_keeps() -> None:
    finding = found(HOOKED + "z = torch.cat(acts).mean(1)", "acts", hook="keep", hooked="net")
    assert finding.where.lines == (2, 7) and finding.severity is Severity.HIGH
    assert check(HOOKED + "z = torch.cat(acts)", "acts", hook="keep", hooked="net") is None


def test_a_hook_in_training_is_told_of_once() -> None:
    """`memory_kept_by_hooks_or_graphs` says of it what each step leaves."""
    source = HOOKED.replace("net(x)", "train(x)") + "z = torch.cat(acts).mean(1)"
    assert check(source, "acts", hook="keep", hooked="net", steps=32) is None


@pytest.mark.parametrize(
    ("source", "facts"),
    [
        (LOOP + "z = torch.cat(outputs)", {}),
        (LOOP + "z = torch.cat(outputs).mean(1)\ntorch.save(outputs, 'o.pt')", {}),
        # what is left is about as much
        (LOOP + "z = torch.cat(outputs).mean(1)", {"shape": (64, 1, 4096)}),
        # an older recording
        (LOOP + "z = torch.cat(outputs).mean(1)", {"shape": None}),
        # they need their graphs
        (LOOP + "z = torch.cat(outputs).mean(1)", {"graphs": 32}),
        # made at once, not one by one
        ("outputs = net(data)\nz = outputs.mean(1)", {"tensors": 1}),
    ],
)
def test_what_is_left_alone(source: str, facts: dict[str, Any]) -> None:
    assert check(source, **facts) is None


def test_what_one_later_loop_reads() -> None:
    finding = found(LOOP + "for x in outputs:\n    metric.update(x)")
    assert plain(finding.title) == "`outputs` holds 4.00 GiB that one later loop reads item by item"
    assert finding.severity is Severity.HIGH and finding.where.lines == (2, 3, 4)
    assert finding.evidence["needless_bytes"] == 4 * GIB * 31 // 32
    assert "holds 32 tensors of up to 64×128×4096, put into it at line 3." in plain(finding.explanation)
    assert "Do the work of the loop at line 4 in the loop at line 2" in finding.change
    assert "unless a later cell reads it" in finding.change
    assert "another cell reads it again" in finding.leave_it


def test_a_reduction_is_told_of_rather_than_the_loop() -> None:
    assert "of which only" in found(LOOP + "for x in outputs:\n    print(x.mean(1))").title


@pytest.mark.parametrize("facts", [{"bytes": GIB // 2}, {"tensors": 1}, {"graphs": 32, "graph_bytes": 0}])
def test_a_later_loop_over_little(facts: dict[str, Any]) -> None:
    """Less than a tenth of the peak, one item, or graphs that it may need."""
    assert check(LOOP + "for x in outputs:\n    metric.update(x)", **facts) is None


GENERATED = """def scans():
    for x in loader:
        yield net(x)
def score(outputs):
    total = 0
    for x in outputs:
        total += f(x)
    return total
"""


def test_what_a_function_goes_through_once() -> None:
    finding = found(GENERATED + "outputs = list(scans())\nprint(score(outputs))")
    assert plain(finding.title) == "`outputs` holds 4.00 GiB that one loop in `score` reads item by item"
    assert finding.where.lines == (6, 9) and "Give `scans()` itself to `score`, without a list" in finding.change
    comprehended = found(GENERATED + "outputs = [net(x) for x in loader]\nprint(score(outputs))")
    assert (
        "Give the comprehension at line 9 to `score` as a generator, `(net(x) for x in loader)`" in comprehended.change
    )
    assert (
        "the loop at line 10 a function that yields each item"
        in found(GENERATED + "outputs = []\nfor x in loader:\n    outputs.append(net(x))\nprint(score(outputs))").change
    )


def test_a_loop_over_a_list_of_a_loader() -> None:
    change = found("outputs = list(loader)\nfor x in outputs:\n    metric.update(x)").change
    assert "Give `loader` itself to the loop at line 2, without a list of it" in change


ZEROS = {"tensors": 1, "zeros_bytes": 3 * GIB, "zeros_share": 0.9996, "one_hot": True}
ONE_HOT = "outputs = F.one_hot(y, 2500).float()\nfor i in batches:\n    train(x[i], outputs[i])"


def test_one_hot_targets_of_a_whole_data_set() -> None:
    finding = found(ONE_HOT, **ZEROS)
    assert plain(finding.title) == "`outputs` holds 3.00 GiB, of which 99.9 % are zeros"
    assert finding.severity is Severity.HIGH and finding.where.lines == (1,)
    assert finding.evidence["needless_bytes"] == finding.evidence["saved_bytes"] == 3 * GIB
    assert "`cross_entropy` takes them, also with `label_smoothing`" in finding.change


def test_other_matrices_of_zeros() -> None:
    spread = ZEROS | {"one_hot": False}
    assert "sparse tensor (`x.to_sparse_csr()`" in found("outputs = graph()\nh = outputs @ h", **spread).change
    assert found("outputs = graph()\nh = outputs @ h", **spread).severity is Severity.HIGH
    # it may be needed as it is
    assert found("outputs = graph()\nh = f(outputs)", **spread).severity is Severity.LOW
    assert "`w[y]` instead of `one_hot @ w`" in found("outputs = graph()\nh = outputs @ h", **ZEROS).change


def test_zeros_of_the_variable_of_a_function() -> None:
    source = "def train():\n    outputs = F.one_hot(y, 2500).float()\n    fit(outputs)\ntrain()"
    assert found(source, "outputs in train()", kind="frame", **ZEROS).where.lines == (2,)


@pytest.mark.parametrize("facts", [{"zeros_bytes": GIB // 2}, {"zeros_bytes": 50 << 20}, {"kind": "module"}])
def test_zeros_that_matter_little(facts: dict[str, Any]) -> None:
    """Less than a tenth of the peak, or than 100 MiB; or what a model has."""
    assert check(ONE_HOT, **(ZEROS | facts)) is None


def test_zeros_that_another_cell_made() -> None:
    assert check("for i in batches:\n    train(x[i], outputs[i])", **ZEROS) is None


COPIES = """kept = []
for epoch in range(60):
    train()
    kept.append({"loss": loss, "model": copy.deepcopy(net.state_dict())})
"""


def test_of_many_copies_one_is_taken() -> None:
    copies = {"copies": 60, "copied_bytes": 4 * GIB}
    taken = found(COPIES + 'best = min(kept, key=score)\nnet.load_state_dict(best["model"])\n', "kept", **copies)
    assert plain(taken.title) == "`kept` keeps 4.00 GiB of model states, but only `min(kept, …)` is used"
    assert taken.leave_it == "Leave it when another cell needs the other items."
    assert taken.severity is Severity.HIGH and taken.where.lines == (4, 5)
    assert "replace the copy when a better one comes" in taken.change and "At line 4" in taken.change
    # all of them may be needed: a population
    assert found(COPIES + "for each in kept:\n    vote(each)\n", "kept", **copies).severity is Severity.LOW


SEARCH = """def search():
    trials = []
    for _ in range(20):
        trials.append({"score": score(), "model": model, "opt": opt})
    best = min(trials, key=lambda t: t["score"])
    return best["model"], sorted(t["score"] for t in trials)
search()
"""


def searched(source: str = SEARCH, items: int = 20) -> Finding | Abstention | None:
    """A list of a function with models and optimizers of several sizes, 4 GiB of a peak of 6."""
    seen = Operand(file="", first=1, last=6, name="trials", kind="builtins.list", least=1, most=items, looks=9)
    return check(source, "trials in search()", operands=Operands(looks=9, seen=(seen,)), kind="frame", tensors=420)


def test_models_and_optimizers_in_a_list_of_which_the_best_is_taken() -> None:
    taken = searched()
    assert isinstance(taken, Finding) and taken.severity is Severity.HIGH
    assert plain(taken.title) == "`trials` keeps 4.00 GiB, but only `min(trials, …)` is used"
    assert taken.evidence["needless_bytes"] == round(4 * GIB * 19 / 20)
    assert taken.where.lines == (4, 5) and "replace the one before" in taken.change


@pytest.mark.parametrize(
    "answer",
    [
        searched(items=3),
        searched(SEARCH.replace('sorted(t["score"] for t in trials)', "trials")),
        searched(SEARCH.replace('sorted(t["score"] for t in trials)', '[t["model"] for t in trials]')),
    ],
)
def test_a_list_that_is_read_or_short(answer: Finding | Abstention | None) -> None:
    assert answer is None


MEMBERS = """class Member:
    def fit(self):
        self.opt.step()
        return self
    def predict(self, x):
        return self.net(x)
members = []
for seed in range(9):
    members.append(Member().fit())
y = [each.predict(x) for each in members]
"""


def test_parts_of_items_that_nothing_reads() -> None:
    net, opt = (ItemPart(kind="Member", step=each, bytes=2 * GIB, model=each == ".net") for each in (".net", ".opt"))
    finding = found(MEMBERS, "members", shape=None, item_parts=(net, opt))
    assert finding.severity is Severity.MEDIUM and finding.evidence["needless_bytes"] == 2 * GIB
    assert "in `.opt` that nothing reads later" in finding.title and "`item.opt = None`" in str(finding.change)
    # models are what a later cell may want
    later = MEMBERS.replace("self.net(x)", "self.opt.x").replace(
        "[each.predict(x) for each in members]", "members[2].opt"
    )
    finding = found(later, "members", shape=None, item_parts=(net, opt))
    assert finding.severity is Severity.LOW and "`.net`" in finding.title
    records = 'members = []\nfor x in xs:\n    members.append({"a": x, "b": f(x)})\nprint([r["b"] for r in members])\n'
    part = ItemPart(kind="dict", step='["a"]', bytes=2 * GIB)
    finding = found(records, "members", shape=None, item_parts=(part,))
    assert 'Leave `["a"]` out of what goes into `members` at line 3' in str(finding.change)
