"""Names of which the text reads reductions alone, and what the reductions leave."""

from __future__ import annotations

import pytest

from benchmarks.rounds.d import e15_layer_probe as probe
from gpuprof.analyses.memory.later_reductions import later_reductions

KEPT = "xs = []\nfor b in data:\n    xs.append(net(b))\n"


@pytest.mark.parametrize(
    ("uses", "calls", "left"),
    [
        ("z = torch.cat(xs).mean(1)", ["mean(1)"], 1 / 4),
        ("z = torch.mean(torch.cat(xs), dim=1)", ["mean(dim=1)"], 1 / 4),
        ("xs = torch.cat(xs)\nprint(xs.shape, xs.argmax(-1).tolist())", ["argmax(-1)"], 1.0),
        ("z = torch.stack(xs).mean(0)", ["mean(0)"], 1 / 10),
        ("z = torch.stack(xs, 1).sum(1)", ["sum(1)"], 1 / 10),
        ("z = torch.stack(xs).std(2)", ["std(2)"], 1 / 4),
        ("m = [x.norm(dim=1) for x in xs]", ["norm(dim=1)"], 1 / 4),
        ("for i, x in enumerate(xs):\n    print(i, x.mean().item())", ["mean()"], 1 / 64),
        ("for name in held:\n    pass\nz = torch.cat([x.cpu().float() for x in xs])[:, 0]", ["[:, 0]"], 1 / 4),
        ("print(len(xs))\nz = torch.cat(xs)[..., -1].exp()", ["[..., -1]"], 1 / 2),
        ("y = np.concatenate([x.cpu().numpy() for x in xs])\na = y.argmax(axis=2)", ["argmax(axis=2)"], 1.0),
        ("p = (torch.cat(xs) > 0.5).float().mean()", ["mean()"], 1 / 640),
        ("z = torch.cat(xs)\na, s = z.mean(1), z.std(1)", ["mean(1)", "std(1)"], 1 / 2),
        ("z = torch.cat(xs)\nz = z.mean(1)\nfit(z)", ["mean(1)"], 1 / 4),
        ("z = torch.cat(xs).topk(1, dim=1).indices", ["topk(1, dim=1)"], 1 / 2),
        ("total = sum(xs)", ["sum"], 1 / 10),
        ("def f(h):\n    return torch.cat(h).amax(1)\nprint(f(xs))", ["amax(1)"], 1 / 4),
        ("if xs is not None and len(xs):\n    print(xs[-1].mean(1))", ["mean(1)"], 1 / 4),
        ("z = torch.cat(xs).data.mean(1)", ["mean(1)"], 1 / 4),
        ("def f(a, h):\n    return torch.cat(h).amax(1)\nprint(f(3, xs))", ["amax(1)"], 1 / 4),
        ("print(torch.cat(xs).mean(1))\ndel xs", ["mean(1)"], 1 / 4),
        ("for x in xs[2:]:\n    print(x.mean(1))", ["mean(1)"], 1 / 4),
        ("print(torch.cat(xs)[1:].mean(1))", ["mean(1)"], 1 / 4),
        ("xs[0] = None\nprint(torch.cat(xs).mean(1))", ["mean(1)"], 1 / 4),
        ("for k, x in xs.items():\n    print(k, x.mean(1))", ["mean(1)"], 1 / 4),
        ("for x in xs.values():\n    print(x.mean(1))", ["mean(1)"], 1 / 4),
        ("for k in xs:\n    print(xs[k].mean(1))", ["mean(1)"], 1 / 4),
        ("ys = [x for x in xs]\nprint(torch.cat(ys).mean(1))", ["mean(1)"], 1 / 4),
        ("print((2 * -torch.cat(xs)).mean(1))", ["mean(1)"], 1 / 4),
        ("if None is not xs:\n    print(torch.cat(xs).mean(1))", ["mean(1)"], 1 / 4),
        ("ys = torch.cat(xs)\nprint(ys.shape)\nprint(ys.mean(1))", ["mean(1)"], 1 / 4),
    ],
)
def test_reductions_are_all_that_is_read(uses: str, calls: list[str], left: float) -> None:
    """Of ten tensors of 8×4×2, or of one of 80×4×2 where the name is bound to the joined one."""
    found = later_reductions([KEPT + uses], "xs")
    assert found is not None
    assert [each.call for each in found.reductions] == calls
    shape, tensors = ((80, 4, 2), 1) if found.whole else ((8, 4, 2), 10)
    assert found.left_share(shape, tensors) == pytest.approx(left, rel=0.11)


@pytest.mark.parametrize(
    "uses",
    [
        "",
        "print(xs)",
        "print(f'{xs}', torch.cat(xs).max(1))",
        "z = torch.cat(xs)\nprint(z.mean(1))\ntorch.save(z, 'z.pt')",
        "z = torch.cat(xs)\nz = (z - z.mean(0)) / z.std(0)\nfit(z)",
        "z = torch.cat(xs)\nm = z.mean(0)\nprint((z - m).norm(dim=1))",
        "print(torch.cat(xs).mean(1))\nknn = torch.cdist(torch.cat(xs), y).argmin(1)",
        "z = torch.stack(xs)\nu = z.mean(0)\nplt.plot(z[0])",
        "print(torch.cat(xs).max(dim))",
        "u, s, v = torch.linalg.svd(torch.cat(xs))",
        "acc = (torch.cat(xs).sigmoid() == y).mean()",
        "z = torch.cat(xs)\nfor row in z:\n    print(row.mean())",
        "self.features = xs\nprint(torch.cat(xs).mean(1))",
        "half = torch.cat(xs)[:, :2].mean(1)",
        "q = torch.cat(xs).quantile(0.9, dim=1)",
        "z, y = torch.cat(xs), 1\nprint(z.mean(1))",
        "def f(h):\n    return h\nprint(f(xs), torch.cat(xs).mean(1))",
        "def f(h):\n    return h.mean(1)\nprint(f(h=xs), torch.cat(xs).mean(1))",
        "def f(a):\n    return a.mean(1)\nprint(f(1, xs), torch.cat(xs).mean(1))",
        "def f(a):\n    return a.mean(1)\ndef f(a):\n    return a\nprint(f(xs), torch.cat(xs).mean(1))",
        "print(torch.cat(xs).grad, torch.cat(xs).mean(1))",
        "for x, y in zip(xs, ys):\n    print(x.mean(1))",
        "for (k, x), y in xs.items():\n    print(k.mean(1))",
        "for o.x in xs:\n    print(torch.cat(xs).mean(1))",
        "print((w * torch.cat(xs)).mean(1))",
        "print((torch.cat(xs) > w).float().mean())",
        "print((0 < torch.cat(xs)).mean())",
        "a = b = torch.cat(xs)\nprint(a.mean(1))",
        "o.z = torch.cat(xs)\nprint(o.z, torch.cat(xs).mean(1))",
        "print(torch.cat([torch.cat(xs), y]).mean(1))",
        "print({k: x for k, x in enumerate(xs)}, torch.cat(xs).mean(1))",
        "with open(xs):\n    print(torch.cat(xs).mean(1))",
        "y[xs] = torch.cat(xs).mean(1)",
    ],
)
def test_something_else_may_read_the_whole(uses: str) -> None:
    assert later_reductions([KEPT + uses], "xs") is None


@pytest.mark.parametrize(
    "uses", ["z = torch.cat(xs).median(0)", "z = torch.stack(xs).std(0)", "z = torch.cat(xs).sum(7)"]
)
def test_a_reduction_that_parts_do_not_give(uses: str) -> None:
    found = later_reductions([KEPT + uses], "xs")
    assert found is not None
    assert found.left_share((8, 4, 2), 10) is None


def test_the_variable_of_a_function() -> None:
    source = f"def run():\n    {KEPT.rstrip().replace(chr(10), chr(10) + '    ')}\n    return torch.cat(xs)"
    assert later_reductions([source], "xs", "run") is None
    found = later_reductions([source + ".mean(1)"], "xs", "run")
    assert found is not None and [each.line for each in found.reductions] == [5]


def test_another_variable_of_that_name_does_not_count() -> None:
    other = "\ndef show(xs):\n    print(xs)\n"
    assert later_reductions([KEPT + "print(torch.cat(xs).mean(1))" + other], "xs") is not None
    assert later_reductions([KEPT + "print(torch.cat(xs).mean(1))" + other + "show(xs)"], "xs") is None


@pytest.mark.parametrize(
    ("function", "counts"),
    [
        ("def show():\n    print(xs)\n", True),
        ("def show():\n    global xs\n    print(xs)\n    xs = []\n", True),
        ("def show():\n    xs = []\n    print(xs)\n", False),
        ("def show(*, xs):\n    print(xs)\n", False),
        ("def show(xs, /):\n    print(xs)\n", False),
        ("def show(ys):\n    global ys\n    xs = 3\n    print(xs)\n", False),
        ("show = lambda xs: print(xs)\n", False),
        ("show = lambda: print(xs)\n", True),
    ],
)
def test_a_function_reads_the_notebook_s_variable_unless_it_has_one_of_that_name(function: str, counts: bool) -> None:
    found = later_reductions([KEPT + function + "print(torch.cat(xs).mean(1))"], "xs")
    assert (found is None) is counts


def test_other_cells_count() -> None:
    assert later_reductions([KEPT + "print(torch.cat(xs).mean(1))", "print(xs)"], "xs") is None


def test_a_hook_that_keeps_all_activations() -> None:
    found = later_reductions([probe.FAULTY.lstrip("\n")], "captured")
    assert found is not None and found.left_share((512, 64, 256), 24) == 1 / 64
    assert later_reductions([probe.CURED.lstrip("\n")], "captured") is None


def test_one_reduction_whose_size_is_not_known_leaves_all_unknown() -> None:
    found = later_reductions([KEPT + "z = torch.cat(xs)\nprint(z.mean(1), z.mean(7))"], "xs")
    assert found is not None and len(found.reductions) == 2
    assert [each.left_share((8, 4, 2), 10, whole=False) is None for each in found.reductions] == [False, True]
    assert found.left_share((8, 4, 2), 10) is None
