"""Figures of two loops that share a container, which parts of an item count, and what may lie between them."""

from __future__ import annotations

import pytest

from gpuprof.analyses.containers.single_reads import single_read

HELD = "xs = []\nfor b in data:\n    xs.append(net(b))\n"
SCORE = "def score(rows):\n    for row in rows:\n        print(row.sum())\n"


def figures(text: str) -> tuple[object, ...] | None:
    found = single_read([text], "xs")
    if found is None:
        return None
    return tuple(sorted(found.names)), found.filled, found.made_in, found.read_in, found.parts, found.given_to


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HELD + "for x in xs:\n    f(x)", (("xs",), (3,), 2, 4, 1, "")),
        ("xs = [\n    net(b)\n    for b in data\n]\nfor x in xs:\n    f(x)", (("xs",), (1,), 1, 5, 1, "")),
        (
            "xs, ys = [], []\nfor b in data:\n    xs.append(b)\n    ys.append(3)\nfor x, y in zip(xs, ys):\n    f(x)",
            (("xs", "ys"), (3,), 2, 5, 1, ""),
        ),
        (
            "xs = []\nfor b in data:\n    xs.append((b, g(b)))\n    xs.append((b, h(b)))\nfor x, y in xs:\n    f(x, y)",
            (("xs",), (3, 4), 2, 5, 2, ""),
        ),
        ("xs = []\nfor b in data:\n    xs.append((b, 3))\nfor x, y in xs:\n    f(x, y)", (("xs",), (3,), 2, 4, 1, "")),
        ("xs = []\nfor b in data:\n    xs.append((4, 3))\nfor x, y in xs:\n    f(x, y)", (("xs",), (3,), 2, 4, 1, "")),
        (SCORE + HELD + "score(xs)", (("xs",), (6,), 5, 2, 1, "score")),
        (SCORE + HELD + "print(z)\nscore(xs)", (("xs",), (6,), 5, 2, 1, "score")),
        # of items of two lengths nothing is known
        (
            "xs = []\nfor b in data:\n    xs.append((b, 3))\n    xs.append((b, 3, 4))\nfor x, y in xs:\n    f(x, y)",
            (("xs",), (3, 4), 2, 5, 1, ""),
        ),
        # another one in between may not wait
        (SCORE + HELD + "print(b)\nscore(xs)", None),
        (SCORE + HELD + "data = 3\nscore(xs)", None),
    ],
)
def test_where_it_is_made_and_read(text: str, expected: tuple[object, ...] | None) -> None:
    assert figures(text) == expected


FILLED = {
    "pairs": "xs = []\nfor i, b in enumerate(data):\n    xs.append((i, b, net(b), 7, b.item()))\n",
    "range": "xs = []\nfor i in range(9):\n    xs.append((i, net(i)))\n",
    "items": "xs = []\nfor i, b in held.items():\n    xs.append((i, net(b)))\n",
    "others": "xs = []\nfor i, b in data:\n    xs.append((i, net(b)))\n",
    "each": "xs = []\nfor i in data:\n    xs.append((i, net(i)))\n",
    "two": "xs = []\nfor b in data:\n    xs.append((3, b))\n    xs.append((b, b))\n",
    "mixed": "xs = []\nfor b in data:\n    xs.append((3, b))\n    xs.append(b)\n",
    "mapping": "xs = {}\nfor b in data:\n    xs[b] = net(b)\n",
    "beside": "xs, ys = [], []\nfor b in data:\n    xs.append((net(b), 3))\n    ys.append(b)\n",
    "one": HELD,
}


@pytest.mark.parametrize(
    ("filled", "loop", "reads_once"),
    [
        # numbers by the text may be kept
        *(("pairs", f"for i, b, x, n, m in xs:\n    kept.append({name})", name in "inm") for name in "ibxnm"),
        *(("range", f"for i, x in xs:\n    kept.append({name})", name == "i") for name in "ix"),
        *(("items", f"for i, x in xs:\n    kept.append({name})", name == "i") for name in "ix"),
        *(("others", f"for i, x in xs:\n    kept.append({name})", False) for name in "ix"),
        *(("each", f"for i, x in xs:\n    kept.append({name})", False) for name in "ix"),
        *((filled, "for i, x in xs:\n    kept.append(i)", False) for filled in ("two", "mixed")),
        # what stands beside the item in the loop
        ("one", "for i, x in enumerate(xs):\n    kept.append(i)", True),
        ("one", "for i, x in enumerate(xs):\n    kept.append(x)", False),
        ("one", "for i, x in tqdm(enumerate(xs)):\n    kept.append(i)", True),
        ("one", "for pair in enumerate(xs):\n    kept.append(pair)", False),
        ("one", "for x in iter(xs):\n    kept.append(x)", False),
        ("mapping", "for k, x in xs.items():\n    kept.append(k)", True),
        ("mapping", "for k, x in xs.items():\n    kept.append(x)", False),
        ("mapping", "for pair in xs.items():\n    kept.append(pair)", False),
        ("mapping", "for x in xs.values():\n    kept.append(x)", False),
        ("mapping", "for a, b in xs.values():\n    kept.append(a)", False),
        ("beside", "for (x, n), y in zip(xs, ys):\n    kept.append(n)", True),
        ("beside", "for (x, n), y in zip(xs, ys):\n    kept.append(y)", False),
        ("beside", "for pair in zip(xs, ys):\n    kept.append(pair)", False),
    ],
)
def test_parts_of_items_that_are_kept(filled: str, loop: str, reads_once: bool) -> None:
    assert (figures(FILLED[filled] + loop) is not None) is reads_once


LOADED = "xs = []\nfor b in data:\n    xs.append(load(b))\n"


@pytest.mark.parametrize(
    ("between", "reads_once"),
    [
        ("net(c).mean().backward()\n", False),
        ("other(c).mean().backward()\n", True),
        ("torch.step(c)\n", True),
        ("print(net(c))\n", True),
        ("net = 3\n", True),
    ],
)
def test_a_model_that_learns_between_the_loops(between: str, reads_once: bool) -> None:
    found = figures(LOADED + between + "for x in xs:\n    print(net(x), torch.ones(3))")
    assert (found is not None) is reads_once


@pytest.mark.parametrize(
    "text",
    [
        # two loops fill it, or one and a statement outside
        "xs = []\nfor b in data:\n    xs.append(b)\nfor c in more:\n    xs.append(c)\nfor x in xs:\n    f(x)",
        "xs = []\nfor b in data:\n    xs.append(b)\nxs.append(c)\nfor x in xs:\n    f(x)",
        "xs = []\nxs.append(c)\nfor x in xs:\n    f(x)",
        # the reader comes before, or deeper
        "def all():\n    for x in xs:\n        f(x)\n" + HELD,
        HELD + "while more:\n    for x in xs:\n        f(x)",
    ],
)
def test_other_loops_around_or_beside(text: str) -> None:
    assert figures(text) is None


def test_libraries_are_read_by_both() -> None:
    """Seeding one is a change, but of nothing that a later loop would take from the first."""
    for imported, name in (
        ("import other", "other"),
        ("import a.b as other", "other"),
        ("from a import other", "other"),
    ):
        text = (
            f"{imported}\nxs = []\nfor b in data:\n    {name}.seed(3)\n    xs.append(b)\nfor x in xs:\n    {name}.f(x)"
        )
        assert figures(text) is not None, imported
    assert figures(
        "import os.path\nxs = []\nfor b in data:\n    os.add(3)\n    xs.append(b)\nfor x in xs:\n    os.f(x)"
    )
    assert figures("xs = []\nfor b in data:\n    own.add(3)\n    xs.append(b)\nfor x in xs:\n    own.f(x)") is None
