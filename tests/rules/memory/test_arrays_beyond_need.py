"""Arrays of one-hot rows, of zeros and of numbers in too wide types: the words, and what is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Window
from gpuprof.model.memory import HeldTensors
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.memory.memory_runs import gib, run
from tests.rules.memory.test_held_beyond_need import plain

# MiB, ten readings a second: it holds 3 GiB from the middle on
LEVELS = [1024.0] * 8 + [4096.0] * 8
DENSE = {"zeros_bytes": gib(2.9), "zeros_share": 0.9667}
PIXELS = {"wide_type": "float32", "wide_bytes": gib(3), "narrow_type": "uint8", "narrow_bytes": gib(0.75)}


def held(name: str, **facts: Any) -> HeldTensors:
    """One array of 3 GiB."""
    figures: dict[str, Any] = {"kind": "global", "device": "cpu", "bytes": gib(3), "tensors": 1, "arrays": 1}
    return HeldTensors(name=name, **(figures | {"graph_bytes": 0, "shape": (9, 9)} | facts))


def check(source: str, *rows: HeldTensors, levels: list[float] = LEVELS) -> Any:
    builder = run(held=rows, cell=Cell(source=source))
    builder.context(window=Window(cell_start_ns=0, cell_end_ns=10_000_000_000))
    for number, level in enumerate(levels):
        builder.host_sample(200_000 + number * 100_000, resident_bytes=int(level * (1 << 20)))
    return rule("held_beyond_need").check(Results(builder.build()))


def found(source: str, *rows: HeldTensors) -> Finding:
    answer = check(source, *rows)
    assert isinstance(answer, Finding)
    return answer


USED = "for idx in batches:\n    fit(x[idx])"


def test_a_sparse_matrix_that_is_made_dense() -> None:
    finding = found("x = vec.fit_transform(texts).toarray()\n" + USED, held("x", **DENSE))
    assert plain(finding.title) == "`x` holds 3.00 GiB, of which 97 % are zeros"
    assert finding.severity is Severity.HIGH and finding.where.lines == (1,)
    assert "Keep `x` sparse: leave out `.toarray()` at line 1" in finding.change
    assert "`x[idx].toarray()`" in finding.change
    other = found("x = table()\n" + USED, held("x", **DENSE)).change
    assert "Make `x` a sparse matrix (`scipy.sparse.csr_matrix`)" in other
    torches = found("x = graph.to_dense()\n" + USED, held("x", arrays=0, **DENSE)).change
    assert "`x.index_select(0, idx).to_dense()`" in torches


REPORT = "def report(pred, truth):\n    p = np.eye(k)[pred]\n    t = np.eye(k)[truth]\n    return (p * t).sum(0)\n"


def test_one_hot_tables_of_a_function_are_one_finding() -> None:
    half = DENSE | {"bytes": gib(1.5), "zeros_bytes": gib(1.35), "zeros_share": 0.9, "one_hot": True, "kind": "frame"}
    finding = found(REPORT, held("p in report()", **half), held("t in report()", **half))
    assert plain(finding.title) == "`p` and `t` hold 3.00 GiB, of which 90 % are zeros"
    assert finding.where.lines == (2, 3) and finding.evidence["needless_bytes"] == 2 * gib(1.35)
    assert finding.evidence["names"] == "p, t"
    assert "Each line of them has a single 1" in finding.explanation
    assert "np.bincount(truth * k + pred, minlength=k * k)" in finding.change
    apart = found(REPORT, held("p in report()", **half), held("t", **(half | {"kind": "global"})))
    assert apart.title.startswith("`p` holds")


def test_numbers_that_a_smaller_type_holds() -> None:
    finding = found("x = load()\n" + USED, held("x", **PIXELS))
    assert plain(finding.title) == "`x` holds 3.00 GiB of `float32` that would fit in `uint8`"
    assert finding.severity is Severity.HIGH and finding.where.lines == (1,)
    assert finding.evidence["needless_bytes"] == finding.evidence["saved_bytes"] == gib(2.25)
    assert "Every number looked at, a sample, is exactly a number of `uint8`, which takes 768 MiB instead of" in plain(
        finding.explanation
    )
    assert (
        "Make `x` `uint8` at line 1 (`x.astype(np.uint8)` of each part" in finding.change
        and "`x[idx].astype(np.float32)`" in finding.change
    )
    tensor = found("x = load()\n" + USED, held("x", arrays=0, **(PIXELS | {"wide_type": "int64"}))).change
    assert "`x.to(torch.uint8)`" in tensor and "the targets of `cross_entropy` want `int64`" in tensor


def test_the_parts_of_a_data_set_are_one_finding() -> None:
    part = {"bytes": gib(1.5), "wide_bytes": gib(1.5), "narrow_bytes": gib(0.375)}
    source = "train = load(1)\nvalid = load(2)\nfor idx in batches:\n    fit(train[idx], valid[idx])"
    finding = found(source, held("train", **(PIXELS | part)), held("valid", **(PIXELS | part)))
    assert plain(finding.title) == "`train` and `valid` hold 3.00 GiB of `float32` that would fit in `uint8`"
    assert finding.where.lines == (1, 2) and finding.evidence["needless_bytes"] == gib(2.25)


DATA = """class Images:
    def __init__(self):
        self.x = load()

    def __getitem__(self, i):
        return self.x[i]


train = Images()
valid = Images()
"""


def test_an_attribute_of_a_data_set_is_named_with_its_line() -> None:
    finding = found(DATA, held("train", attribute="x", **PIXELS))
    assert plain(finding.title) == "`train.x` holds 3.00 GiB of `float32` that would fit in `uint8`"
    assert finding.severity is Severity.HIGH and finding.where.lines == (3, 9)
    half = PIXELS | {"bytes": gib(1.5), "wide_bytes": gib(1.5), "narrow_bytes": gib(0.375), "attribute": "x"}
    assert found(DATA, held("train", **half), held("valid", **half)).title.startswith("`train.x` and `valid.x` hold")


def test_what_is_used_whole_may_need_the_type() -> None:
    assert found("x = load()\nfit(x)", held("x", **PIXELS)).severity is Severity.LOW
    inside = "def build():\n    x = load()\n    return f(x)\n"
    finding = found(inside, held("x in build()", kind="frame", **PIXELS))
    assert finding.severity is Severity.LOW and finding.where.lines == (2,) and "each batch" not in finding.change


def test_what_is_sure_goes_before_what_is_more() -> None:
    source = "whole = load()\nx = load()\n" + USED
    less = PIXELS | {"wide_bytes": gib(2), "narrow_bytes": gib(0.5), "narrow_type": "int8"}
    finding = found(source, held("whole", **PIXELS), held("x", **less))
    assert finding.title.startswith("`x` holds") and finding.severity > Severity.LOW


@pytest.mark.parametrize(
    ("source", "facts"),
    [
        # filled before
        (USED, {}),
        # numbers are added up in it
        ("x = load()\nx[i] += 1\n" + USED, {}),
        # less than a tenth of the peak
        ("x = load()\n" + USED, {"wide_bytes": gib(0.4), "narrow_bytes": gib(0.1)}),
        # a model's
        ("x = load()\n" + USED, {"kind": "module"}),
    ],
)
def test_types_that_are_left_alone(source: str, facts: dict[str, Any]) -> None:
    assert check(source, held("x", **(PIXELS | facts))) is None


def test_views_and_lists_of_arrays() -> None:
    source = "x = []\nfor y in loader:\n    x.append(f(y))\n"
    views = found(source, held("x", tensors=40, arrays=40, unseen_bytes=gib(2.8)))
    assert "`x` holds 40 arrays over 3.00 GiB of storage" in plain(views.explanation)
    assert "`x[:, 0].copy()` instead of `x[:, 0]`" in views.change
    both = found(source, held("x", tensors=40, arrays=10, unseen_bytes=gib(2.8)))
    assert "`x` holds 30 tensors and 10 arrays over" in both.explanation and "`.clone()`" not in both.change


WINDOWS = "np.lib.stride_tricks.sliding_window_view(x, length, axis=0)[::step]"


@pytest.mark.parametrize(
    ("shape", "of_tensor", "of_array"),
    [
        ((9, 5), "with `x.unfold(0, length, step)` of a series", f"with `{WINDOWS}` of a series"),
        ((9, 5, 3), "`x.unfold(0, length, step).transpose(1, 2)`", f"`{WINDOWS}.swapaxes(1, 2)`"),
        ((9, 5, 3, 4), "`x.unfold(0, length, step).movedim(-1, 1)`", f"`np.moveaxis({WINDOWS}, -1, 1)`"),
        ((99, 3, 12), "with `x.unfold(0, length, step)`, repeated", f"with `{WINDOWS}`, repeated"),
        ((99, 12, 12), "or `x.unfold(0, length, step)` where the positions", f"or `{WINDOWS}` where the positions"),
        (None, "`x.unfold(0, length, step)`, followed by `.transpose(1, 2)`", f"`{WINDOWS}`, followed by `.swapaxes"),
    ],
)
def test_windows_keep_the_order_of_their_axes(shape: tuple[int, ...] | None, of_tensor: str, of_array: str) -> None:
    for arrays, words in ((0, of_tensor), (1, of_array)):
        rows = held("x", repeated_bytes=gib(2.7), repeated_times=10.0, shape=shape, arrays=arrays)
        assert words in found("x = load()\n" + USED, rows).change


def test_the_views_that_are_named_have_the_numbers_of_the_windows() -> None:
    """As `torch.stack([x[i : i + 5] for i in range(0, 16, 2)])` has them."""
    for axes in ((), (3,), (3, 4)):
        x = np.arange(20 * int(np.prod(axes))).reshape(20, *axes)
        written = np.stack([x[i : i + 5] for i in range(0, 16, 2)])
        for arrays, given in ((0, torch.from_numpy(x)), (1, x)):
            rows = held("x", repeated_bytes=gib(2.7), repeated_times=10.0, shape=written.shape, arrays=arrays)
            change = found("x = load()\n" + USED, rows).change
            view = change.split("overlapping windows with `")[1].split("`")[0]
            made = eval(view, {"np": np, "x": given, "length": 5, "step": 2})
            assert np.array_equal(np.asarray(made), written)


def test_windows_and_what_they_are_converted_into_count_together() -> None:
    windows = {"repeated_bytes": gib(1.4), "repeated_times": 10.0, "shape": (9, 3, 12)}
    rows = (held("w", arrays=1, **windows), held("x", arrays=0, **windows))
    both = found("w = np.stack(parts)\nx = torch.tensor(w)\n" + USED, *rows)
    assert both.title == "`w` and `x` store each value 10 times: 2.80 GiB are duplicates"
    assert "where `x` is the series as a tensor. `w` is not needed then." in both.change
    assert both.where.lines == (1, 2)
    apart = found("w = np.stack(parts)\nx = torch.tensor(other)\n" + USED, *rows)
    assert "1.40 GiB are duplicates" in apart.title


def test_each_kind_says_when_to_leave_it() -> None:
    source = "x = []\nfor y in loader:\n    x.append(f(y))\n"
    kinds = [
        (source, {"tensors": 40, "arrays": 40, "unseen_bytes": gib(2.8)}, "other parts of these tensors"),
        ("x = load()\n" + USED, {"repeated_bytes": gib(2.7), "repeated_times": 10.0}, "changed in place"),
        ("x = load()\n" + USED, DENSE, "needs the whole matrix"),
        ("x = load()\n" + USED, DENSE | {"one_hot": True}, "as mixup does"),
        ("x = load()\n" + USED, PIXELS, "do not fit in `uint8`"),
        ("x = itertools.cycle(loader)\n", {"cycled_bytes": gib(3), "tensors": 100}, "repeat the same batches"),
    ]
    for text, facts, words in kinds:
        leave_it = found(text, held("x", **facts)).leave_it
        assert leave_it.startswith("Leave it when ") and words in leave_it


@pytest.mark.parametrize("kind", ["global", "frame"])
def test_batches_that_a_cycle_keeps(kind: str) -> None:
    source = (
        "def train():\n    stream = itertools.cycle(loader)\n    for step in range(9):\n        fit(next(stream))\n"
    )
    name = "stream in train()" if kind == "frame" else "stream"
    row = held(name, kind=kind, cycled_bytes=gib(3), tensors=100, arrays=0)
    finding = found(source if kind == "frame" else "stream = itertools.cycle(loader)\n", row)
    assert plain(finding.title) == "`stream` keeps 3.00 GiB of batches in an `itertools.cycle`"
    assert finding.severity > Severity.LOW and finding.where.lines == ((2,) if kind == "frame" else (1,))
    assert "use `forever(loader)` in place of `itertools.cycle(loader)`" in finding.change
    assert finding.evidence["needless_bytes"] == gib(3) - gib(3) // 100
