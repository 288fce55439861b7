"""What a loop collects and works on again, and the near misses."""

from __future__ import annotations

import textwrap

import pytest

from gpuprof.analyses.loops.accumulations import Growing, accumulations


def of(source: str) -> list[tuple[Growing, str, int, tuple[int, ...]]]:
    found = accumulations("", textwrap.dedent(source).strip())
    return [(each.growing, each.name, each.line, each.reads) for each in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            """
            for t in range(64):
                logits = model(ids)
                ids = torch.cat([ids, logits[:, -1:].argmax(-1)], 1)
            """,
            (Growing.JOINED, "ids", 3, (2,)),
        ),
        (
            """
            for t in range(64):
                ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], 1)
            """,
            (Growing.JOINED, "ids", 2, (2,)),
        ),
        (
            """
            def generate(idx, n):
                for _ in range(n):
                    cut = idx if idx.size(1) <= block else idx[:, -block:]
                    idx = torch.cat((idx, model(cut)), dim=1)
            """,
            (Growing.JOINED, "idx", 4, (3,)),
        ),
        (
            """
            while len(ids) < 64:
                ids = ids + [int(model(torch.tensor(ids)).argmax())]
                print(tokenizer.decode(ids))
            """,
            (Growing.JOINED, "ids", 2, (2, 3)),
        ),
        (
            """
            for x in batches:
                index = torch.cat([index, model(x)])
            """,
            (Growing.COPIED, "index", 2, (2,)),
        ),
        (
            """
            for x in batches:
                ids = torch.cat([ids, model(ids[:, -8:])])
            """,
            (Growing.COPIED, "ids", 2, (2,)),
        ),
        (
            """
            for x, y in batches:
                preds.append(model(x))
                auc = metric(torch.cat(preds))
            """,
            (Growing.LISTED, "preds", 2, (3,)),
        ),
        (
            """
            class Metric:
                def update(self, p):
                    self.seen.append(p)
                    return torch.cat(self.seen).mean()
            """,
            (Growing.LISTED, "self.seen", 3, (4,)),
        ),
        (
            """
            for t in range(1, 64):
                y = model(x[:, :t + 1])
            """,
            (Growing.PREFIX, "x", 2, (2,)),
        ),
        (
            """
            for t in range(64):
                h = cell(x[t], h)
                h.sum().backward(retain_graph=True)
            """,
            (Growing.GRAPH, "h.sum()", 3, (3,)),
        ),
    ],
)
def test_what_grows_and_is_read_again(source, expected):
    assert of(source) == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "for x in xs:\n    outs.append(model(x))",  # nothing reads it
        "for x in xs:\n    outs.append(model(x))\n    print(len(outs), outs[-1])",
        "for x in xs:\n    last.append(x)\n    f(last)\n    last.pop(0)",  # as long as before
        "for x in xs:\n    v = torch.cat([v, x])\n    f(v)\n    v = v[-8:]",
        "for x in xs:\n    batch = []\n    batch.append(x)\n    f(batch)",  # made anew
        "for x in xs:\n    losses, hits = [], 0\n    losses.append(x)\n    f(losses)",
        "for x in xs:\n    f(kept)\n    for kept in x:\n        kept.append(x)",
        "for t in range(9):\n    y = model(x[:, t:t + 8])",  # a window
        "for n in range(9):\n    f(torch.randn(n, n))",  # sizes that are tried out
        "for text in sorted(texts, key=len):\n    outs.append(model(text))",
        "for x in xs:\n    def f():\n        v.append(x)\n        g(v)",
        "def f(x):\n    v = []\n    v.append(x)\n    return g(v)",
        "for x in:",
    ],
)
def test_near_misses(source):
    assert of(source) == []


def test_what_comes_of_it_is_worked_on_as_well():
    source = """
for x in xs:
    losses.append(model(x).item())
    p = torch.cat(
        losses)
    order = p.argsort()
    show(len(xs))
    with a:
        b = order + 1
"""
    (found,) = accumulations("", source)
    assert (found.reads, found.works) == ((5,), (4, 5, 6, 9))
