"""What a loop repeats is moved out of it where the text shows that this changes nothing, and nowhere else."""

from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.loops.hoisted import move_before_loop
from tests.code_edits.executed import assert_rest_is_kept, line_of, removed_and_added, run

STATEMENT = """\
import torch
K, seen = torch.rand(5, 5) + 5 * torch.eye(5), []
for x in torch.randn(4, 5):
    inverse = torch.linalg.inv(K)  # here
    seen.append(inverse @ x)
y = torch.stack(seen)
"""
PART = """\
import torch
K, y = torch.rand(5, 5) + 5 * torch.eye(5), 0.0
for x in torch.randn(4, 5):
    y += (x @ torch.linalg.inv(K)).sum()  # here
"""
CHAIN = """\
import torch
K, seen = torch.rand(5, 5), []
for x in torch.randn(4, 5):
    z = x * 2
    spread = K @ K.T + 5 * torch.eye(5)
    factor = torch.linalg.cholesky(spread)  # here
    seen.append(torch.cholesky_solve(z[:, None], factor))
y = torch.stack(seen)
"""
NESTED = """\
import torch
rate, seen = torch.rand(6, 6), []
for epoch in range(2):
    for x in torch.randn(4, 6):
        with torch.no_grad():
            steady = torch.matrix_exp(rate)  # here
        seen.append(steady @ x)
y = torch.stack(seen)
"""
LISTED = """\
import torch
K = torch.rand(5, 5) + 5 * torch.eye(5)
y = torch.stack([torch.linalg.inv(K) @ x for x in torch.randn(4, 5)])  # here
"""
FUNCTION = """\
import torch
def features(table, power):
    wide = torch.cat([table, table ** power])
    rows = {}
    for k in range(2):
        rows[k] = wide[k].sum()
    return wide @ wide.T + rows[0]
table, seen = torch.rand(6, 4), []
def trial(n):
    for k in range(n):
        known = features(table, 2.0)  # here
        seen.append(known * k)
trial(3)
y = torch.stack(seen)
"""
FROZEN = """\
import copy
import torch
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 4)
    def forward(self, x):
        h = self.body(x)
        return self.head(h)
def scores(net, x):
    return net(x).log_softmax(1)
net = Net()
old = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
rows = torch.randn(16, 8)
for epoch in range(2):
    for idx in torch.randperm(16).split(4):
        before = scores(old, rows)[idx]  # here
        loss = (scores(net, rows[idx]) - before).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
y = loss.detach()
"""
MOVED = {
    "statement": STATEMENT,
    "part": PART,
    "chain": CHAIN,
    "nested": NESTED,
    "listed": LISTED,
    "function": FUNCTION,
    "frozen": FROZEN,
}


def moved(cell: str, **facts: bool) -> str | None:
    return move_before_loop(cell, [line_of(cell, "# here")], **facts)


@pytest.mark.parametrize("name", MOVED)
def test_the_changed_cell_computes_the_same_to_the_last_bit(name: str) -> None:
    cell = MOVED[name]
    after = moved(cell)
    assert after is not None
    assert_rest_is_kept(cell, after)
    assert torch.equal(run(cell)["y"], run(after)["y"])


def test_it_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ran, original = [], torch.linalg.inv
    monkeypatch.setattr(torch.linalg, "inv", lambda K: ran.append(1) or original(K))
    for cell, count in ((STATEMENT, 4), (PART, 4), (LISTED, 4)):
        after = moved(cell)
        assert after is not None
        run(cell)
        assert len(ran) == count
        run(after)
        assert len(ran) == count + 1
        ran.clear()


def test_the_statement_itself_moves_with_what_it_alone_needs() -> None:
    after = moved(CHAIN)
    assert after is not None
    removed, added = removed_and_added(CHAIN, after)
    assert [line.strip() for line in removed] == added and "    z = x * 2\n" in after
    assert added[0].startswith("spread =") and added[1].startswith("factor =")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seen.append(inverse", "inverse = inverse + 1; seen.append(inverse"),
        ("    inverse = ", "    seen.append(inverse @ x)\n    inverse = "),
        ("    seen.append(inverse @ x)\n", ""),
        ("y = torch.stack(seen)", "def later():\n    return inverse\ny = torch.stack(seen)"),
    ],
)
def test_a_name_that_others_read_or_give_a_value_gets_it_where_it_did(old: str, new: str) -> None:
    assert old in STATEMENT
    after = moved(STATEMENT.replace(old, new))
    assert after is not None
    assert "fixed_inv = torch.linalg.inv(K)\nfor x" in after and "    inverse = fixed_inv  # here\n" in after


def test_a_part_of_a_statement_gets_a_name() -> None:
    assert removed_and_added(PART, moved(PART) or "")[1] == [
        "fixed_inv = torch.linalg.inv(K)",
        "    y += (x @ fixed_inv).sum()  # here",
    ]
    again = PART.replace("K, y =", "fixed_inv = 1\nK, y =")
    assert "fixed_inv_2 = torch.linalg.inv(K)\n" in (moved(again) or "")


def test_it_moves_out_of_as_many_loops_as_repeat_it() -> None:
    after = moved(NESTED)
    assert after is not None
    assert "with torch.no_grad():\n    steady = torch.matrix_exp(rate)  # here\nfor epoch" in after
    inner = NESTED.replace("    for x in", "    rate = rate + 1\n    for x in")
    assert "    with torch.no_grad():\n        steady = torch.matrix_exp(rate)  # here\n    for x" in (
        moved(inner) or ""
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # what it reads changes
        ("seen.append(inverse", "K = K + 1; seen.append(inverse"),
        ("seen.append(inverse", "K += 1; seen.append(inverse"),
        ("seen.append(inverse", "K[0] = x; seen.append(inverse"),
        ("seen.append(inverse", "K.add_(1); seen.append(inverse"),
        ("seen.append(inverse", "torch.add(K, 1, out=K); seen.append(inverse"),
        ("seen.append(inverse", "K.data.mul_(2); seen.append(inverse"),
        ("seen.append(inverse", "row = K[0]; row.zero_(); seen.append(inverse"),
        ("seen.append(inverse", "torch.nn.init.eye_(K); seen.append(inverse"),
        ("seen.append(inverse", "update(K); seen.append(inverse"),
        ("seen.append(inverse", "exec('K += 1'); seen.append(inverse"),
        ("for x in torch.randn(4, 5):", "for K in torch.randn(4, 5, 5):"),
        ("for x in torch.randn(4, 5):", "for x in walk(K):"),
        # what it gives changes, or is read before
        ("seen.append(inverse", "inverse[0] = 0; seen.append(inverse"),
        ("seen.append(inverse", "inverse += 1; seen.append(inverse"),
        ("seen.append(inverse", "part = inverse.view(-1); part.zero_(); seen.append(inverse"),
        ("seen.append(inverse", "kept = [inverse]; kept[0].zero_(); seen.append(inverse"),
        ("seen.append(inverse", "update(inverse); seen.append(inverse"),
        # it does not always run
        ("    inverse = ", "    if x.sum() > 9: continue\n    inverse = "),
        ("    inverse = torch.linalg.inv(K)", "    if x.sum() > 9:\n        inverse = torch.linalg.inv(K)"),
        (
            "    inverse = torch.linalg.inv(K)",
            "    try:\n        inverse = torch.linalg.inv(K)\n    finally:\n        pass",
        ),
        ("    inverse = torch.linalg.inv(K)", "    with lock:\n        inverse = torch.linalg.inv(K)"),
        # it is not the same each time, or does something else, too
        ("torch.linalg.inv(K)", "torch.linalg.inv(K + torch.randn(5, 5))"),
        ("torch.linalg.inv(K)", "torch.linalg.inv(next(K))"),
        ("torch.linalg.inv(K)", "torch.linalg.inv(K * x)"),
        ("torch.linalg.inv(K)", "torch.linalg.inv(make(K))"),
        ("torch.linalg.inv(K)", "torch.linalg.inv(K, out=K)"),
        ("torch.linalg.inv(K)", "torch.nn.functional.dropout(K)"),
        ("torch.linalg.inv(K)", "torch.nn.Linear(5, 5).weight"),
        ("torch.linalg.inv(K)", "K.solve()"),
        ("torch.linalg.inv(K)", "(lambda: torch.linalg.inv(K))()"),
        ("torch.linalg.inv(K)", "seen.pop() if seen else K"),
        # nothing is won
        ("torch.linalg.inv(K)", "K"),
        ("torch.linalg.inv(K)", "len(K)"),
        ("torch.linalg.inv(K)", "K.view(5, 5).shape"),
        # what a name stands for is not known
        ("seen.append(inverse", "global K; seen.append(inverse"),
        ("import torch", "from elsewhere import torch"),
    ],
)
def test_whatever_the_text_does_not_prove_stays(old: str, new: str) -> None:
    assert old in STATEMENT
    assert moved(STATEMENT.replace(old, new)) is None


@pytest.mark.parametrize(
    "calls",
    [
        "def go():\n    for row in K:\n        row -= 1\nK = torch.eye(5)\n@@    go()",
        "def go():\n    K.add_(1)\nK = torch.eye(5)\n@@    run(go)",
        "def go(t):\n    t.add_(1)\nK = torch.eye(5)\n@@    list(map(go, [K]))",
        "def make():\n    def go():\n        K.add_(1)\n    return go\nK = torch.eye(5)\ngo = make()\n@@    go()",
        "class Rows:\n    def __getitem__(self, k):\n        K[k] = 0\n        return k\nK = torch.eye(5)\n"
        "r = Rows()\n@@    r[0]",
        "class Rows:\n    def __init__(self, k):\n        K[k] = 0\nK = torch.eye(5)\n@@    Rows(0)",
        "class Box:\n    def __init__(self, k):\n        self.k = k\n    def go(self):\n        self.k.add_(1)\n"
        "K = torch.eye(5)\nbox = Box(K)\n@@    box.go()",
        "class Net(nn.Module):\n    def forward(self, x):\n        K.add_(x)\n        return x\nK = torch.eye(5)\n"
        "net = Net()\n@@    net(1)",
        "K = torch.eye(5)\nf = lambda: K.add_(1)\n@@    f()",
        "K = torch.eye(5)\nbox = {'k': K}\n@@    box['k'].add_(1)",
        "K = torch.eye(5)\nboxes = []\nboxes.append(K)\n@@    boxes[0].add_(1)",
        "K = torch.eye(5)\na, b = K.split(2)\n@@    b.add_(1)",
        "K = torch.eye(5)\nopt = torch.optim.SGD([K], lr=1)\n@@    opt.step()",
        "K = nn.Parameter(torch.eye(5))\nopt = given\n@@    opt.step()",
        "K = torch.eye(5)\n@@    def go():\n        pass",
        "K = torch.eye(5)\n@@    yield K",
    ],
)
def test_whatever_else_may_change_what_it_reads(calls: str) -> None:
    before, inside = calls.split("@@")
    loop = "for x in range(3):\n    inverse = torch.linalg.inv(K)  # here\n    print(inverse)\n"
    cell = f"import torch\n{before}{loop}{inside}\n"
    assert moved(cell) is None
    if "__getitem__" not in before:
        assert moved(cell.replace(f"{inside}\n", "    print(K)\n")) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return wide @", "    table.zero_()\n    return wide @"),
        ("    return wide @", "    seen.append(1)\n    return wide @"),
        ("    return wide @", "    print(1)\n    return wide @"),
        ("    return wide @", "    return torch.rand(1) * wide @"),
        ("    return wide @", "    table.shown = 1\n    return wide @"),
        ("    return wide @", "    return other(wide) @"),
        ("rows = {}", "rows = table"),
        ("def trial", "features = print\ndef trial"),
        ("def trial", "def features(a, b):\n    return a\ndef trial"),
        ("def features", "@cached\ndef features"),
        ("        seen.append(known", "        table.add_(1)\n        seen.append(known"),
        (
            "def trial(n):",
            "def change(t):\n    t += 1\ndef trial(n):\n    change(table)\n    for e in range(3):\n     change(table)",
        ),
    ],
)
def test_a_function_that_does_more_than_compute_stays(old: str, new: str) -> None:
    assert old in FUNCTION
    after = moved(FUNCTION.replace(old, new))
    # the last of them: out of the inner loop alone
    assert after is None or ("change(table)" in new and "     change(table)\n    known" in after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("copy.deepcopy(net).requires_grad_(False)", "net"),
        ("net.parameters()", "old.parameters()"),
        ("net.parameters()", "[*net.parameters(), *old.parameters()]"),
        ("torch.optim.SGD(net.parameters(), lr=0.1)", "make_optimizer(old)"),
        ("nn.Tanh()", "nn.Dropout(0.1)"),
        ("nn.Tanh()", "nn.BatchNorm1d(8)"),
        ("nn.Tanh()", "Unknown()"),
        ("        return self.head(h)", "        self.calls = 1\n        return self.head(h)"),
        ("        return self.head(h)", "        x.add_(1)\n        return self.head(h)"),
        ("class Net(nn.Module)", "class Net(Base)"),
        ("net = Net()", "class Other(Net):\n    pass\nnet = Net()"),
        ("rows = ", "old.register_forward_hook(print)\nrows = "),
        ("rows = ", "old.head = nn.Linear(8, 4)\nrows = "),
        ("        opt.step()\n", "        opt.step()\n        old.load_state_dict(net.state_dict())\n"),
        ("        opt.step()\n", "        opt.step()\n        old = copy.deepcopy(net)\n"),
        ("        opt.step()\n", "        opt.step()\n        ema(old, net)\n"),
        (".requires_grad_(False)", ""),
    ],
)
def test_a_model_that_may_change_or_be_trained_runs_in_each_iteration(old: str, new: str) -> None:
    assert old in FROZEN
    assert moved(FROZEN.replace(old, new)) is None


def test_a_graph_is_not_used_by_two_backward_passes() -> None:
    trained = """\
import torch
weight = torch.randn(5, 5, requires_grad=True)
for x in torch.randn(4, 5):
    spread = torch.matrix_exp(weight)  # here
    (spread @ x).sum().backward()
"""
    assert moved(trained) is None
    # as the look has seen it; and where the text itself shows it
    assert moved(trained, without_backward=True) is not None
    assert moved(trained.replace("torch.matrix_exp(weight)", "torch.matrix_exp(weight).detach()")) is not None
    assert moved(trained.replace(", requires_grad=True", "")) is not None
    for asked in ("weight.requires_grad_()", "weight.requires_grad = True", "w = weight\nw.requires_grad_()"):
        assert moved(trained.replace(", requires_grad=True)", f")\n{asked}")) is None
    assert moved(trained.replace("torch.randn(5, 5, requires_grad=True)", "given")) is None
    assert moved(trained.replace("torch.randn(5, 5, requires_grad=True)", "nn.Linear(5, 5).weight")) is None


def test_a_loop_that_may_not_run_leaves_the_name_as_it_was() -> None:
    head = "def go(n):\n    seen = []\n    for k in range(n):\n        inverse = torch.linalg.inv(K)  # here\n"
    for end in ("    return inverse\n", "    print(inverse)\n"):
        cell = f"{head}        seen.append(inverse @ k)\n{end}"
        assert "        inverse = fixed_inv" in (moved(cell) or "")
        assert "\n    inverse = torch" in (moved(cell.replace("range(n)", "range(3)")) or "")
    assert "\n    inverse = torch" in (moved(f"{head}        seen.append(inverse @ k)\n    return seen\n") or "")


@pytest.mark.parametrize("use", ["made.append({})", "made = {}", "made = [{}]", "made = ({}).view(-1)"])
def test_a_part_that_may_be_written_to_stays(use: str) -> None:
    head = "import torch\nmade = []\nfor x in range(3):\n"
    cell = f"{head}    {use.format('torch.linalg.inv(K)')}  # here\n    made[0].add_(x)\n"
    assert moved(cell) is None
    assert moved(cell.replace("    made[0].add_(x)\n", "    print(made[0])\n")) is not None
    assert moved(f"import torch\nfor x in range(3):\n    go(x, {'torch.linalg.inv(K)'})  # here\n") is None


def test_a_part_that_a_function_returns_in_a_list_is_not_written_to() -> None:
    cell = "import torch\ndef go(K):\n    rows = []\n    for k in range(3):\n"
    cell += "        rows.append(torch.linalg.inv(K))  # here\n    return rows\nmade = go(torch.eye(3))\n"
    assert moved(cell) is not None
    assert moved(cell + "made[0].add_(1)\n") is None


def test_an_if_around_it_or_behind_it_decides() -> None:
    tested = "import torch\nfor x in range(3):\n    if torch.linalg.inv(K)[0, 0] > x:  # here\n        print(x)\n"
    assert "fixed_inv = torch.linalg.inv(K)\nfor x" in (moved(tested) or "")
    assert moved(tested.replace("if torch", "if x and torch")) is None
    assert moved(tested.replace("if torch.linalg.inv(K)[0, 0] > x", "if x if x > 1 else torch.linalg.inv(K)")) is None
    waiting = "import torch\nwhile torch.linalg.inv(K)[0, 0] > x:  # here\n    x += 1\n"
    assert (
        moved(waiting)
        == "import torch\nfixed_inv = torch.linalg.inv(K)\nwhile fixed_inv[0, 0] > x:  # here\n    x += 1\n"
    )


def test_lines_are_tried_in_their_order() -> None:
    lines = [line_of(CHAIN, "z = x"), line_of(CHAIN, "seen.append"), line_of(CHAIN, "spread =")]
    after = move_before_loop(CHAIN, lines)
    assert after is not None and "\nspread = K @ K.T + 5 * torch.eye(5)\nfor" in after and "    factor =" in after
    assert move_before_loop(CHAIN, []) is None and move_before_loop(CHAIN, [1, 2, 3, 99]) is None
