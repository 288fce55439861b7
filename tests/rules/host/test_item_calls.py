"""Calls that are given one item each though they take all; and calls that only look like it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import MODEL, calls, library
from tests.support.trace_builder import CELL_FILE, TraceBuilder

ARRAY, LIST = "numpy.ndarray", "builtins.list"
SCATTER = (library("matplotlib/_api.py", "wrapper"), library("matplotlib/axes/_axes.py", "Axes.scatter"))
PREDICT = (library("sklearn/linear_model/_base.py", "LinearRegression.predict"),)
MEAN = (library("numpy/_core/fromnumeric.py", "mean"),)
SPLINE = (library("scipy/interpolate/_cubic.py", "CubicSpline.__call__"),)
PDF = (library("scipy/stats/_distn_infrastructure.py", "rv_continuous.pdf"),)
HILBERT = (library("scipy/signal/_signaltools.py", "hilbert"),)
POINTS = "for i in range(len(z)):\n    ax.scatter(z[i, 0], z[i, 1], s=8)\n"


def known(name: str, kind: str = ARRAY, most: int | None = 1800, items: str = "", **more: bool) -> Operand:
    return Operand(file=CELL_FILE, first=1, last=9, name=name, kind=kind, looks=5, most=most, items=items, **more)


def told(
    source: str, *frames: tuple[str, str, int], seen: tuple[Operand, ...] = (known("z"),), ms: float = 300
) -> Finding | None:
    line = 1 + next(number for number, text in enumerate(source.splitlines()) if "# here" in text)
    trace = calls(ms, *frames, source=source, line=line)
    trace = replace(trace, context=structs.replace(trace.context, operands=Operands(looks=9, seen=seen)))
    answer = rule("costly_call_per_item").judge(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def marked(source: str) -> str:
    """Its last line is the one that takes the time."""
    return f"{source.rstrip()}  # here\n"


def test_a_point_at_a_time() -> None:
    found = told(marked(POINTS), *SCATTER)
    assert found is not None and found.severity == Severity.MEDIUM
    assert found.title == "`ax.scatter` is called once for each item: 30 % of the cell"
    assert "`z` is an array of 1,800 items" in found.explanation and "runs for each item" in found.explanation
    assert found.change.startswith("Draw all points in one call")


@pytest.mark.parametrize(
    ("source", "frames", "title"),
    [
        ("for row in X:\n    y = model.predict(row[None])", PREDICT, "`model.predict` is called"),
        ("for i in range(len(X)):\n    y = model.predict(X[i:i + 1])", PREDICT, "`model.predict` is called"),
        ("for i in range(n):\n    y = model.predict([X[i]])", PREDICT, "`model.predict` is called"),
        ("for x in X[:900]:\n    y = norm.pdf(x)", PDF, "`norm.pdf` is called"),
        ("y = [norm.pdf(x) for x in X]", PDF, "`norm.pdf` is called"),
        ("for row in X:\n    m.append(np.mean(row))", MEAN, "`np.mean` is called"),
        ("for a, x in zip(w, X):\n    p = a * x\n    y = norm.pdf(p)", PDF, "`norm.pdf` is called"),
    ],
)
def test_what_takes_all_items(source: str, frames: tuple[tuple[str, str, int], ...], title: str) -> None:
    found = told(marked(source), *frames, seen=(known("X"),))
    assert found is not None and found.title.startswith(title)


def test_numbers_of_a_list_are_items_of_one_array_whatever_else_the_call_is_given() -> None:
    """`weights` is given whole each time; an item that is known by itself is no single number."""
    numbers = known("z", LIST, items="builtins.float")
    weights = known("weights", LIST, 9)
    source = marked("for x in z:\n    m.append(np.mean(x, weights))")
    assert told(source, *MEAN, seen=(numbers, weights)) is not None
    assert told(source, *MEAN, seen=(numbers, weights, known("x", LIST, 9))) is None


def test_of_an_object_that_is_called_its_name_is_said() -> None:
    """Not that of the list to which its result is appended."""
    spline = known("spline", "scipy.interpolate._cubic.CubicSpline", None)
    source = marked("for x in z:\n    kept.append(spline(x))")
    found = told(source, *SPLINE, seen=(known("z"), known("kept", LIST), spline))
    assert found is not None and found.title.startswith("`spline` is called once for each item")
    assert told(source, *SPLINE, seen=(known("z"), known("kept", LIST))) is None


def test_what_is_in_no_table_is_said_in_general() -> None:
    found = told(marked("for x in z:\n    y = signal.hilbert(x)"), *HILBERT, ms=600)
    assert found is not None and found.severity == Severity.MEDIUM
    assert found.change.startswith("Give `signal.hilbert` all items in one call, if it takes arrays")


@pytest.mark.parametrize(
    ("source", "frames", "seen"),
    [
        # it is given all of them
        ("for k in ks:\n    ax.scatter(z[:, 0], z[:, 1])", SCATTER, (known("ks", LIST), known("z"))),
        # a group at a time
        ("for k in range(10):\n    ax.scatter(z[y == k, 0], z[y == k, 1])", SCATTER, (known("z"),)),
        ("for k in ks:\n    ax.scatter(z[y == k, 0], z[y == k, 1])", SCATTER, (known("ks"), known("z"))),
        ("for part in parts:\n    ax.scatter(part[:, 0], part[:, 1])", SCATTER, (known("parts", LIST, 40, ARRAY),)),
        ("for part in parts:\n    ax.scatter(part, 3)", SCATTER, (known("parts", LIST, 40, ARRAY),)),
        # a few of them, or nobody knows how many
        ("for i in range(len(z)):\n    ax.scatter(z[i, 0], z[i, 1])", SCATTER, (known("z", most=20),)),
        ("for p in z[:20]:\n    ax.scatter(p[0], p[1])", SCATTER, (known("z"),)),
        ("for p in read():\n    ax.scatter(p[0], p[1])", SCATTER, (known("z"),)),
        ("for p in points:\n    ax.scatter(p[0], p[1])", SCATTER, ()),
        # a batch at a time
        ("for s in range(0, len(X), 64):\n    y = model.predict(X[s:s + 64])", PREDICT, (known("X"),)),
        ("for b in batches:\n    y = model.predict(b)", PREDICT, (known("batches", LIST), known("b", ARRAY, 128))),
        # each needs the one before
        ("for x in z:\n    s = model.predict([x + s])", PREDICT, (known("z"),)),
        ("for t in range(1, len(z)):\n    z[t] = norm.pdf(z[t - 1])", PDF, (known("z"),)),
        # lists of any length
        (
            "for u, xs in of.items():\n    m.append(np.mean(xs))",
            MEAN,
            (known("of", "builtins.dict"), known("xs", LIST, 9)),
        ),
        ("for xs in lists:\n    m.append(np.mean(xs))", MEAN, (known("lists", LIST, items=LIST),)),
        ("for i in range(x.shape[1]):\n    m.append(np.mean(x[:, i]))", MEAN, (known("x"),)),
        # many models, and the same data
        ("for m in models:\n    y = m.predict(X)", PREDICT, (known("models", LIST), known("X"))),
        # a library of which nothing is known
        ("for x in z:\n    y = solve(x)", (library("other/solver.py", "solve"),), (known("z"),)),
        ("for x in z:\n    r = optimize.minimize(f, x)", (library("scipy/optimize/_m.py", "minimize"),), (known("z"),)),
        ("for x in z:\n    w = signal.firwin(9, x)", (library("scipy/signal/_fir.py", "firwin"),), (known("z"),)),
    ],
)
def test_what_only_looks_like_it(
    source: str, frames: tuple[tuple[str, str, int], ...], seen: tuple[Operand, ...]
) -> None:
    found = told(marked(source), *frames, seen=seen)
    assert found is None or "is called once for each item" not in found.title


def test_long_calls_have_work_to_do() -> None:
    """40 rows that take 300 ms in all: 7.5 ms each."""
    rows = (known("z", most=40),)
    assert told(marked("for x in z:\n    y = signal.hilbert(x)"), *HILBERT, seen=rows) is None
    assert told(marked(POINTS), *SCATTER, seen=rows) is not None


def test_a_function_that_is_called_for_each_item() -> None:
    source = "def show(ax, p):\n    ax.scatter(p[0], p[1])  # here\n\nfor p in z:\n    show(axes, p)\n"
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    builder.stack(1, 300_000, (CELL_FILE, "<module>", 5), (CELL_FILE, "show", 2), *SCATTER)
    builder.stack(300_001, 699_999, (CELL_FILE, "<module>", 4), MODEL)
    operands = Operands(looks=9, seen=(known("z"),))
    built = builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=operands).build()
    found = rule("costly_call_per_item").judge(Results(built))
    assert isinstance(found, Finding) and found.title.startswith("`ax.scatter` is called once for each item")


@pytest.mark.parametrize(
    ("line", "told_of"), [("torch.tensor(y)", True), ("torch.tensor([y, 1])", True), ("known[y]", False)]
)
def test_tensors_of_single_items(line: str, told_of: bool) -> None:
    """Functions of which a stack shows no frame: by what their names stand for."""
    source = f"import torch\nfor y in labels:\n    kept.append({line})\nfor t in kept:\n    model(t)\n"
    made = known("torch.tensor", "torch.tensor", None, callable=True)
    seen = (known("labels", LIST, 5000, "builtins.int"), known("kept", LIST, 5000), made)
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    builder.stack(1, 300_000, (CELL_FILE, "<module>", 3)).stack(300_001, 699_999, (CELL_FILE, "<module>", 5), MODEL)
    operands = Operands(looks=9, seen=seen)
    trace = builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=operands).build()
    found = rule("costly_call_per_item").judge(Results(trace))
    assert isinstance(found, Finding) is told_of
    if isinstance(found, Finding):
        assert found.title.startswith("`torch.tensor` is called once for each item")
