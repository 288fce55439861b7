"""Calls that do far more than is used of them; and the same functions where all of it is used."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import calls, library
from tests.rules.cases.host.whole_collection_per_item import SOURCE, lookups
from tests.support.trace_builder import CELL_FILE

ARRAY, LIST = "numpy.ndarray", "builtins.list"
Frame = tuple[str, str, int]
ARGSORT = (library("numpy/_core/fromnumeric.py", "argsort"),)
CONVOLVE = (library("numpy/_core/numeric.py", "convolve"),)
INVERSE = (library("numpy/linalg/_linalg.py", "inv"),)
EIGH = (library("numpy/linalg/_linalg.py", "eigh"),)
SVD = (library("numpy/linalg/_linalg.py", "svd"),)
VALUES = (library("pandas/core/frame.py", "DataFrame.sort_values"),)
RANDOM = "numpy.random.mtrand.RandomState"


def known(name: str, kind: str = ARRAY, length: int | None = 20_000, *, least: int | None = None) -> Operand:
    low = length if least is None else least
    return Operand(file=CELL_FILE, first=1, last=9, name=name, kind=kind, looks=5, least=low, most=length, same=False)


def told(line: str, seen: tuple[Operand, ...], *frames: Frame) -> Finding | None:
    """Of a line in a loop, with these frames of a library below it, or with none."""
    if frames:
        trace = calls(300, *frames, source=f"for x in many:\n    {line}\n", line=2)
    else:
        trace = lookups(300, source=SOURCE.replace(SOURCE.splitlines()[1], f"    {line}"), over=None)
    trace = replace(trace, context=structs.replace(trace.context, operands=Operands(looks=9, seen=seen)))
    answer = rule("costly_call_per_item").judge(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


@pytest.mark.parametrize(
    ("line", "seen", "frames", "title"),
    [
        ("top = np.argsort(-scores)[:10]", (known("scores"),), ARGSORT, "`np.argsort` sorts all of it"),
        ("top = np.argsort(near[x])[:k]", (known("near", length=300),), ARGSORT, "`np.argsort` sorts all of it"),
        ("top = scores.argsort()[::-1][:k]", (known("scores"),), (), "`scores.argsort` sorts all of it"),
        ("return sorted(pairs, key=pick)[:5]", (known("pairs", LIST),), (), "`sorted` sorts all of it"),
        (
            "best = table.sort_values(x).head(3)",
            (known("table", "pandas.core.frame.DataFrame"),),
            VALUES,
            "`table.sort_values` sorts all of it",
        ),
        ("i = np.random.choice(self.n, size, replace=False)", (), (), "`np.random.choice` shuffles everything"),
        ("i = np.random.choice(200_000, 64, replace=False)", (), (), "`np.random.choice` shuffles everything"),
        ("i = rng.choice(n, k, False)", (known("rng", RANDOM, None),), (), "`rng.choice` shuffles everything"),
        ("kept.append(np.random.choice(n, 64, replace=False))", (), (), "`np.random.choice` shuffles everything"),
        ("i = rng.permutation(n)[:k]", (), (), "`rng.permutation` shuffles everything"),
        ("i = random.sample(list(range(n)), k)", (), (), "`random.sample` is given a new list"),
        (
            "y = np.convolve(wave, room)[:n]",
            (known("wave", length=16_000), known("room", length=8000, least=3200)),
            CONVOLVE,
            "`np.convolve` sums directly over a long kernel",
        ),
        (
            "y = np.convolve(0.5 * wave + noise, room[::-1])",
            (known("wave", length=16_000), known("room", length=8000)),
            CONVOLVE,
            "`np.convolve` sums directly over a long kernel",
        ),
        ("y = np.linalg.inv(a) @ b", (), INVERSE, "`np.linalg.inv` makes an inverse"),
        ("y = np.diag(a @ b)", (), (), "`np.diag` uses only the diagonal"),
        ("_, s, vt = np.linalg.svd(x)", (known("x"),), SVD, "`np.linalg.svd` makes full matrices"),
        ("w, v = np.linalg.eigh(a); print(v[:, -k:])", (), EIGH, "`np.linalg.eigh` computes all vectors, but"),
    ],
)
def test_more_than_is_used(line: str, seen: tuple[Operand, ...], frames: tuple[Frame, ...], title: str) -> None:
    found = told(line, seen, *frames)
    assert found is not None and found.title.startswith(title)


@pytest.mark.parametrize(
    ("line", "seen", "frames"),
    [
        # all of it is used, or it is short
        ("top = np.argsort(-scores)", (known("scores"),), ARGSORT),
        ("top = np.argsort(-scores)[:10]", (known("scores", length=200),), ARGSORT),
        ("top = np.argsort(-scores)[:10]", (), ARGSORT),
        ("return sorted(pairs)", (known("pairs", LIST),), ()),
        ("top = ranked(scores)[:10]", (known("scores"),), ()),
        ("top = book.sorted(pairs)[:5]", (known("pairs", LIST),), ()),
        ("return sorted(pairs)[:5]", (known("pairs", LIST, 50),), ()),
        # the time is in something else of the line
        ("return sorted([score(p) for p in pairs])[:5]", (known("pairs", LIST),), ()),
        ("top = np.argsort(f(scores))[:10]", (known("scores"),), (library("other/f.py", "f"),)),
        # draws with a generator, with replacement, of a large part
        ("i = rng.choice(n, k, replace=False)", (known("rng", "numpy.random._generator.Generator", None),), ()),
        ("i = np.random.choice(n, k)", (), ()),
        ("i = np.random.choice(n, k, replace=False, p=w)", (), ()),
        ("i = np.random.choice(n, n // 2, replace=False)", (), ()),
        ("i = np.random.choice(400, 20, replace=False)", (), ()),
        ("i = np.random.choice(4000, 2000, replace=False)", (), ()),
        ("i = rng.permutation(n)", (), ()),
        ("i = random.sample(range(n), k)", (), ()),
        # short kernels, or by FFT
        ("y = np.convolve(wave, room)", (known("wave", length=16_000), known("room", length=64)), CONVOLVE),
        ("y = np.convolve(wave, room)", (known("wave", length=16_000),), CONVOLVE),
        ("y = np.convolve(wave, room[:64])", (known("wave", length=16_000), known("room")), CONVOLVE),
        (
            "y = signal.fftconvolve(wave, room)",
            (known("wave", length=16_000), known("room", length=8000)),
            (library("scipy/signal/_signaltools.py", "fftconvolve"),),
        ),
        ("y = np.linalg.inv(a)", (), INVERSE),
        ("y = np.diag(a)", (), ()),
        ("_, s, vt = np.linalg.svd(x, full_matrices=False)", (known("x"),), SVD),
        ("u, s, vt = np.linalg.svd(x)", (known("x"),), SVD),
        ("_, s, vt = np.linalg.svd(x)", (known("x", length=100),), SVD),
    ],
)
def test_what_is_used_in_full(line: str, seen: tuple[Operand, ...], frames: tuple[Frame, ...]) -> None:
    assert told(line, seen, *frames) is None


def test_what_another_algorithm_takes_is_no_saving() -> None:
    rooms = (known("wave", length=16_000), known("room", length=8000, least=3200))
    found = told("y = np.convolve(wave, room)[:n]", rooms, *CONVOLVE)
    assert found is not None and found.saving is not None
    # the sum takes seven times as long, by the formula of the close look
    assert found.saving.share == pytest.approx(0.3 * 6 / 7)
    assert "`room` is an array of 8,000 items" in found.explanation


@pytest.mark.parametrize(
    ("length", "same", "share"),
    [(640, True, 0.3 * 9 / 10), (100_000, True, 0.3 * 11 / 12), (60, True, None), (640, False, None)],
)
def test_one_matrix_for_all_systems(length: int, same: bool, share: float | None) -> None:
    matrix = structs.replace(known("a", length=length), same=same)
    solve = library("numpy/linalg/_linalg.py", "solve")
    found = told("y = np.linalg.solve(a, x)", (matrix,), solve)
    assert (found is None) == (share is None)
    if found is not None and found.saving is not None:
        assert "`np.linalg.solve` factorizes the same matrix each time" in found.title
        assert found.saving.share == pytest.approx(share) and "lu_factor" in (found.change or "")


def test_one_sparse_matrix_for_all_systems() -> None:
    matrix = structs.replace(known("a", "scipy.sparse._csc.csc_matrix", None), same=True)
    solve = library("scipy/sparse/linalg/_dsolve/linsolve.py", "spsolve")
    found = told("y = spsolve(a, x)", (matrix,), solve)
    assert found is not None and found.saving is not None
    assert found.saving.share == pytest.approx(0.3 * 4 / 5) and "splu" in (found.change or "")


def table(columns: int = 40, rows: int = 20_000) -> Operand:
    frame = known("table", "pandas.core.frame.DataFrame", rows)
    return structs.replace(frame, fewest_elements=columns * rows, most_elements=columns * rows)


SAMPLE = library("pandas/core/generic.py", "NDFrame.sample")


@pytest.mark.parametrize(
    ("line", "seen", "share"),
    [
        ("b = table.sample(n); print(b.groupby('arm').x.mean())", table(), 0.3 * 11 / 12),
        ("b = table.sample(n); print(b.groupby('arm').x.mean())", table(12), 0.3 * 5 / 6),
        ("y = table.sample(n)['x'].mean()", table(8), 0.3 * 7 / 8),
        # most of it is read, or it is short
        ("b = table.sample(n); print(b.groupby('arm').x.mean())", table(7), None),
        ("y = table.sample(n)['x'].mean()", table(7), None),
        ("y = table.sample(n)['x'].mean()", table(rows=900), None),
        ("y = table.sample(n)['x'].mean()", known("table", "pandas.core.frame.DataFrame"), None),
        ("y = table.sample(n).mean()", table(), None),
    ],
)
def test_columns_that_are_copied_and_not_read(line: str, seen: Operand, share: float | None) -> None:
    found = told(line, (seen,), SAMPLE)
    assert (found is None) == (share is None)
    if found is not None:
        assert found.title.startswith("`table.sample` copies ") and found.saving is not None
        assert found.saving.share == pytest.approx(share) and "'x'" in (found.change or "")
