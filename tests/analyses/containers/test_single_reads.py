"""Containers whose items one later loop alone reads, one at a time, and the near misses that need them all."""

from __future__ import annotations

import pytest

from benchmarks.rounds.f import h09_liver_volumes as volumes
from benchmarks.rounds.h import l11_sgld as sgld
from gpuprof.analyses.containers.single_reads import single_read

HELD = "xs = []\nfor b in data:\n    xs.append(net(b))\n"
PAIRS = "xs, ys = [], []\nfor i, (b, y) in enumerate(data):\n    xs.append(net(b))\n    ys.append(y)\n"
ROWS = "xs = []\nfor i in range(9):\n    x = net(data[i])\n    xs.append((i, x, x.mean().item()))\n"
SCORE = "def score(x):\n    p = x.argmax(0)\n    return (p == 1).sum().item()\n"


def test_a_list_of_volumes_that_a_loop_scores() -> None:
    found = single_read([volumes.FAULTY], "outputs")
    assert found is not None and (found.made_in, found.filled, found.read_in) == (74, (77,), 81)
    assert found.names == ("outputs",) and found.parts == 2
    assert single_read([volumes.CURED], "scores") is None


@pytest.mark.parametrize(
    "text",
    [
        HELD + "for x in xs:\n    metric.update(x)\nprint(metric.compute())",
        HELD + "print(len(xs))\nscores = []\nfor i, x in enumerate(xs):\n    scores.append((i, x.argmax(1)))",
        HELD + "scores = [f(x.softmax(0)) for x in xs]",
        HELD + "total = sum((x * w).mean() for x in xs)",
        HELD + "for i in range(len(xs)):\n    print(i, f(xs[i]))",
        HELD + "for x in tqdm(xs):\n    total += f(x) / len(xs)",
        HELD + "best = None\nfor x in xs:\n    if best is None or f(x) > f(best):\n        best = x",
        HELD + SCORE + "scores = []\nfor x in xs:\n    scores.append(score(x))",
        HELD + "for x in xs:\n    for part in x.split(8):\n        print(f(part))",
        "xs = [load(p) for p in paths]\nsmall = []\nfor x in xs:\n    small.append(resize(x, 64))",
        "xs = list(loader)\nfor x, y in xs:\n    metric.update(net(x), y)",
        "xs = {}\nfor k in ids:\n    xs[k] = net(k)\nfor k, x in xs.items():\n    rows[k] = f(x)",
        "xs = {}\nfor k in ids:\n    xs[k] = net(k)\nfor k in xs:\n    print(k, f(xs[k]))",
        "xs = {}\nfor k in ids:\n    xs[k] = net(k)\nfor k in ids:\n    print(k, f(xs[k]))",
        "xs = []\nwith torch.no_grad():\n    for b in data:\n        for c in b:\n            xs += [net(c)]\n"
        "for x in xs:\n    print(f(x))",
        ROWS + "rows = []\nfor i, x, m in xs:\n    rows.append((i, m, f(x)))",
        "for d in folds:\n    xs = []\n    for b in d:\n        xs.append(net(b))\n    for x in xs:\n        f(x)",
    ],
)
def test_one_later_loop_reads_it(text: str) -> None:
    assert single_read([text], "xs") is not None


def test_two_lists_that_are_read_together() -> None:
    found = single_read([PAIRS + "for x, y in zip(xs, ys):\n    metric.update(x, y)"], "xs")
    assert found is not None and set(found.names) == {"xs", "ys"}
    assert single_read([PAIRS + "for x, y in zip(xs, ys):\n    metric.update(x, y)\nprint(ys)"], "xs") is None


def test_the_variable_of_a_function() -> None:
    body = HELD + "total = 0\nfor x in xs:\n    total += f(x)\nreturn total"
    text = "def evaluate(data):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    found = single_read([text, "xs = 3"], "xs", "evaluate")
    assert found is not None and (found.made_in, found.read_in) == (3, 6)
    assert single_read([text], "xs") is None


@pytest.mark.parametrize(
    "uses",
    [
        "",
        "print(xs)",
        "xs",
        "for x in xs:\n    f(x)\nplt.plot(xs)",
        "for x in xs:\n    f(x)\nfor x in xs:\n    g(x)",
        "for epoch in range(3):\n    for x in xs:\n        f(x)",
        "for x in sorted(xs, key=f):\n    g(x)",
        "for x in reversed(xs):\n    g(x)",
        "random.shuffle(xs)\nfor x in xs:\n    g(x)",
        "for i in range(len(xs)):\n    g(xs[i], xs[i - 1])",
        "for i, x in enumerate(xs):\n    g(x, xs[0])",
        "for i in order:\n    g(xs[i])",
        "for i in range(len(xs) - 1, -1, -1):\n    g(xs[i])",
        "for x in xs:\n    for y in xs:\n        g(x, y)",
        "z = [g(x, y) for x in xs for y in xs]",
        "mu = torch.stack(xs).mean()\nfor x in xs:\n    g(x - mu)",
        "kept = []\nfor x in xs:\n    kept.append(x)",
        "kept = []\nfor x in xs:\n    y = x[0].float()\n    kept.append((y, 1))",
        "kept = [x.cpu() for x in xs]",
        "kept = {i: x.view(-1) for i, x in enumerate(xs)}",
        "def keep(x):\n    kept.append(x)\nfor x in xs:\n    keep(x)",
        "def part(x):\n    return x[:, 0]\nkept = []\nfor x in xs:\n    kept.append(part(x))",
        "kept = []\nfor x in xs:\n    kept.append(Result(x, 3))",
        "def get():\n    return xs\nfor x in xs:\n    g(x)",
        "for x in xs:\n    if f(x):\n        break",
        "torch.save(xs, 'x.pt')\nfor x in xs:\n    f(x)",
    ],
)
def test_something_may_need_them_all(uses: str) -> None:
    assert single_read([HELD + uses], "xs") is None


@pytest.mark.parametrize(
    "text",
    [
        # the later loop needs what the first has only at its end
        "xs, total = [], 0\nfor b in data:\n    x = net(b)\n    xs.append(x)\n    total += x.sum()\n"
        "mu = total / 9\nfor x in xs:\n    var += ((x - mu) ** 2).sum()",
        # it changes the model that the first loop runs
        HELD + "for x in xs:\n    loss = net(x).mean()\n    loss.backward()\n    opt.step()",
        "def learn(x):\n    net(x).mean().backward()\n    opt.step()\n" + HELD + "for x in xs:\n    learn(x)",
        # or needs the model as it is at the end
        "xs = []\nfor b in data:\n    xs.append(b.cuda())\n    net(b).mean().backward()\n    opt.step()\n"
        "for x in xs:\n    metric.update(net(x))",
        HELD + "net.eval()\nfor x in xs:\n    print(net(x))",
        # the environment goes on
        "xs = []\nfor t in range(9):\n    xs.append(env.step(act(t)))\nfor x in xs:\n    env.replay(x)",
        # the same tensors are kept elsewhere
        "xs = []\nfor b in data:\n    x = net(b)\n    xs.append(x)\n    cache[b] = x\nfor x in xs:\n    f(x)",
        # the list outlives the turns of a loop around both
        "xs = []\nfor t in range(9):\n    for b in data:\n        xs.append(net(b))\n    for x in xs:\n        f(x)",
        "xs = []\nfor x in xs:\n    f(x)\nfor b in data:\n    xs.append(net(b))",
        "xs = []\nfor b in data:\n    xs.append(net(b, xs[-1]))\nfor x in xs:\n    f(x)",
        "xs = deque(maxlen=9)\nfor b in data:\n    xs.append(net(b))\nfor x in xs:\n    f(x)",
    ],
)
def test_the_two_loops_depend_on_their_order(text: str) -> None:
    assert single_read([text], "xs") is None


def test_another_cell_may_need_it() -> None:
    text = HELD + "for x in xs:\n    f(x)"
    assert single_read([text, "ys = 3"], "xs") is not None
    assert single_read([text, "print(xs[0])"], "xs") is None
    assert single_read(["for x in (", text], "xs") is None


MADE = """def sample(seen):
    for b in data:
        x = net(b)
        seen.append(x.mean().item())
        yield x, 3
"""
MEAN = """def mean(pairs, start=0):
    total, n = start, 0
    for x, k in pairs:
        total += f(x) * k
        n += 1
    return total / n
"""
WEIGHTS = """def sample():
    for b in data:
        for p in net.parameters():
            p.add_(b)
        yield net(b)
def mean(xs):
    for x in xs:
        print(net(x))
xs = list(sample())
mean(xs)
"""
LISTED = "seen = []\nxs = list(sample(seen))\n"


def test_a_list_of_a_generator_given_to_a_function() -> None:
    found = single_read([sgld.FAULTY], "posterior")
    assert found is not None and (found.made_in, found.filled, found.read_in) == (81, (81,), 69)
    assert (found.given_to, found.source.text, found.names) == ("predictive", "sgld(energy)", ("posterior",))
    assert single_read([sgld.CURED], "posterior") is None


@pytest.mark.parametrize(
    "text",
    [
        MADE + MEAN + LISTED + "print(mean(xs), seen[-1])",
        MADE + MEAN + LISTED + "m = mean(start=1, pairs=xs)",
        MADE + MEAN.replace("def", "@torch.no_grad()\ndef", 1) + LISTED + "m = mean(xs)",
        MADE + MEAN.replace("in pairs", "in tqdm(pairs, total=len(pairs))") + LISTED + "m = mean(xs)",
        MADE + MEAN.replace("x, k in pairs", "i, (x, k) in enumerate(pairs)") + LISTED + "m = mean(xs)",
        "def best(xs):\n    return max(f(x) for x in xs)\nxs = [net(b) for b in data]\nprint(best(xs))",
        "def best(ys):\n    return max(f(x) for x in ys)\n" + HELD + "print(best(xs))",
        "def main():\n    xs = list(sample([]))\n    return mean(xs)\n" + MADE + MEAN + "main()",
        MADE + LISTED + "for x, k in xs:\n    metric.update(x)",
        MADE + MEAN + "seen = []\nwith torch.no_grad():\n    xs = list(sample(seen))\n    m = mean(xs)",
    ],
)
def test_one_loop_of_a_function_reads_it(text: str) -> None:
    assert single_read([text], "xs", "main" if "main()" in text else None) is not None


@pytest.mark.parametrize(
    "text",
    [
        MADE + MEAN + LISTED + "m = mean(xs)\nprint(xs[0])",
        MADE + MEAN + LISTED + "a, b = mean(xs), mean(xs)",
        MADE + MEAN + LISTED + "a = mean(xs)\nfor x, k in xs:\n    f(x)",
        MADE + MEAN + LISTED + "for epoch in range(3):\n    print(mean(xs))",
        MADE + MEAN + LISTED + "print(len(xs))\nm = mean(xs)",
        MADE + MEAN + LISTED + "xs.sort(key=f)\nm = mean(xs)",
        MADE + MEAN + LISTED + "m = mean(*xs)",
        MADE + MEAN + LISTED + "m = mean(sorted(xs))",
        MADE + MEAN + LISTED + "m = other(xs)",
        # what the generator changes is read on the way
        MADE + MEAN + LISTED + "print(sum(seen))\nm = mean(xs, len(seen))",
        MADE + MEAN + LISTED + "k = seen[-1]\nm = mean(xs)",
        # the function needs more than one item at a time, or in another order
        MADE + MEAN.replace("total / n", "total / len(pairs)") + LISTED + "m = mean(xs)",
        MADE + MEAN.replace("in pairs", "in reversed(pairs)") + LISTED + "m = mean(xs)",
        MADE + MEAN.replace("start, 0", "pairs[0], 0") + LISTED + "m = mean(xs)",
        MADE + MEAN.replace("total / n", "total, pairs") + LISTED + "m = mean(xs)",
        MADE
        + "def mean(pairs):\n    for _ in range(3):\n        for x, k in pairs:\n            f(x)\n"
        + LISTED
        + "mean(xs)",
        MADE
        + "def mean(pairs):\n    kept = []\n    for x, k in pairs:\n        kept.append(x)\n"
        + LISTED
        + "mean(xs)",
        MADE + "def mean(pairs):\n    for x, k in pairs:\n        return x\n" + LISTED + "mean(xs)",
        MADE + "def mean(pairs):\n    for x, k in pairs:\n        yield f(x)\n" + LISTED + "mean(xs)",
        MADE + MEAN.replace("def", "@lru_cache\ndef", 1) + LISTED + "m = mean(xs)",
        "def best(ys):\n    return max(f(x) for x in ys.values())\nxs = {b: net(b) for b in data}\nprint(best(xs))",
        # a generator would run in another context
        MADE + MEAN + "seen = []\nwith torch.no_grad():\n    xs = list(sample(seen))\nm = mean(xs)",
        MADE + MEAN + "with open(path) as file:\n    xs = list(sample(file))\nm = mean(xs)",
        MADE.replace("yield", "x.sum().backward()\n        yield")
        + MEAN.replace("def", "@torch.no_grad()\ndef", 1)
        + LISTED
        + "m = mean(xs)",
        # the items are there anyway
        MADE.replace("seen.append(x.mean().item())", "seen.append(x)") + MEAN + LISTED + "m = mean(xs)",
        "def sample(seen):\n    return [net(b) for b in data]\n" + MEAN + LISTED + "m = mean(xs)",
        MEAN + "pairs = [net(b) for b in data]\nxs = list(pairs)\nm = mean(xs)",
        # a model that is trained between two items is used
        MADE.replace("x = net(b)", "x = net(b)\n        opt.step()")
        + "def mean(xs, net):\n    for x, k in xs:\n        print(net(x))\n"
        + LISTED
        + "mean(xs, net)",
        WEIGHTS,
    ],
)
def test_the_function_or_the_text_needs_the_list(text: str) -> None:
    assert single_read([text], "xs") is None


def test_what_stands_between_keeps_its_place() -> None:
    found = single_read([MADE + LISTED + "print(seen[-1])\nfor x, k in xs:\n    metric.update(x)"], "xs")
    assert found is not None and not found.source.text
    closed = single_read(
        [MADE + "with open(p) as f:\n    xs = list(sample(f))\nfor x, k in xs:\n    metric.update(x)"], "xs"
    )
    assert closed is not None and not closed.source.text
