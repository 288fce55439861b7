"""What written calls make of tensors: every figure of a reduction, a selection, a join."""

from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.memory.reducing_calls import Kept, Reduction, joined, keeps_elements, reduction, selection

APART, JOINED, STACKED = Kept(), Kept(0), Kept(0, stacked=True)


def call(text: str) -> ast.Call:
    found = ast.parse(text, mode="eval").body
    assert isinstance(found, ast.Call)
    return found


def taken(text: str) -> ast.Subscript:
    found = ast.parse(text, mode="eval").body
    assert isinstance(found, ast.Subscript)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.mean()", ("mean()", None, True, 1)),
        ("x.mean(1)", ("mean(1)", (1,), True, 1)),
        ("x.mean((0, -1), keepdim=True)", ("mean((0, -1), keepdim=True)", (0, -1), True, 1)),
        ("x.max([1, 2])", ("max([1, 2])", (1, 2), True, 1)),
        ("x.nanmean(axis=0)", ("nanmean(axis=0)", (0,), False, 1)),
        ("torch.var(x, dim=2)", ("var(dim=2)", (2,), False, 1)),
        ("np.argmax(x, 1)", ("argmax(1)", (1,), False, 1)),
        ("x.norm()", ("norm()", None, False, 1)),
        ("x.norm(2, dim=1)", ("norm(2, dim=1)", (1,), False, 1)),
        ("x.norm(2)", None),
        ("x.topk(3)", ("topk(3)", (-1,), False, 6)),
        ("x.topk(3, 1)", ("topk(3, 1)", (1,), False, 6)),
        ("torch.topk(x, k=5, dim=0)", ("topk(k=5, dim=0)", (0,), False, 10)),
        *(("x.topk()", None), ("x.topk(n)", None), ("x.topk(3, dim=axis)", None), ("x.topk((1, 2))", None)),
        *(("x.mean(axis)", None), ("x.mean(1.0)", None), ("x.mean(())", None), ("x.mean(True)", None)),
        *(("x.cumsum(1)", None), ("mean(x)", None), ("x.sort(1)", None)),
    ],
)
def test_calls_that_reduce(text: str, expected: tuple[str, tuple[int, ...] | None, bool, int] | None) -> None:
    found = reduction(call(text), APART)
    if expected is None:
        assert found is None
    else:
        name, axes, running, times = expected
        assert found == Reduction(1, name, axes, APART, running, times)


def test_the_sum_of_a_container_adds_its_tensors() -> None:
    assert reduction(call("sum(xs)"), APART) == Reduction(1, "sum", (0,), STACKED, running=True)
    assert reduction(call("sum(xs)"), JOINED) is None
    assert reduction(call("max(xs)"), APART) is None


@pytest.mark.parametrize(
    ("text", "of", "expected"),
    [
        ("x[:, 0]", APART, ("[:, 0]", (1,))),
        ("x[:, -1, 3]", APART, ("[:, -1, 3]", (1, 2))),
        ("x[..., 0]", JOINED, ("[..., 0]", (-1,))),
        ("x[..., 0, :]", JOINED, ("[..., 0, :]", (-2,))),
        ("x[:, 0]", JOINED, ("[:, 0]", (1,))),
        ("x[0, :]", APART, ("[0, :]", (0,))),
        *(("x[0, :]", JOINED, None), ("x[0]", APART, None), ("x[:, :]", APART, None), ("x[..., ..., 0]", APART, None)),
        *(("x[:, 1:]", APART, None), ("x[:, :1]", APART, None), ("x[::2, 0]", APART, None), ("x[:, i]", APART, None)),
        *(("x[:, None]", APART, None), ("x[mask, 0]", APART, None)),
    ],
)
def test_single_places_of_an_axis(text: str, of: Kept, expected: tuple[str, tuple[int, ...]] | None) -> None:
    found = selection(taken(text), of)
    assert found == (None if expected is None else Reduction(1, *expected, of, running=False))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.cat(xs)", Kept(0)),
        ("torch.cat(xs, 1)", Kept(1)),
        ("torch.cat(xs, dim=-1)", Kept(-1)),
        ("np.concatenate(xs, axis=1)", Kept(1)),
        ("torch.stack(xs)", Kept(0, stacked=True)),
        ("torch.stack(xs, dim=2)", Kept(2, stacked=True)),
        *(("torch.cat(xs, dim)", None), ("torch.cat(xs, (0, 1))", None), ("own.cat(xs)", None), ("cat(xs)", None)),
        *(("torch.exp(xs)", None), ("f().cat(xs)", None)),
    ],
)
def test_calls_that_join(text: str, expected: Kept | None) -> None:
    assert joined(call(text)) == expected


@pytest.mark.parametrize(
    ("text", "of", "keeps"),
    [
        *(("x.exp()", APART, True), ("torch.exp(x)", APART, True), ("x.to(device)", APART, True)),
        *(("x.astype(kind)", APART, True), ("x.clamp(0, 1)", APART, True), ("x.clamp(low, 1)", APART, False)),
        *(("x.clamp(min=low)", APART, False), ("x.float(dtype=kind)", APART, True), ("x.pow(y)", APART, False)),
        *(("torch.pow(x, 2)", APART, True), ("torch.pow(x, y)", APART, False), ("x.matmul(y)", APART, False)),
        *(("x.softmax(1)", APART, True), ("x.softmax(dim=1)", JOINED, True), ("x.softmax(0)", JOINED, False)),
        *(("F.log_softmax(x, 1)", JOINED, True), ("x.softmax(axis)", JOINED, False), ("x.softmax()", JOINED, False)),
        *(("x.cumsum(1)", APART, False), ("x.clone(memory_format=form)", APART, True)),
    ],
)
def test_calls_that_change_one_element_after_another(text: str, of: Kept, keeps: bool) -> None:
    assert keeps_elements(call(text), of) is keeps


def left(text: str, of: Kept, shape: tuple[int, ...], tensors: int = 10, *, whole: bool = False) -> float | None:
    found = reduction(call(text), of)
    assert found is not None
    return found.left_share(shape, tensors, whole=whole)


def test_what_a_reduction_leaves_of_a_tensor_alone() -> None:
    assert left("x.mean(1)", APART, (8, 4, 2)) == 1 / 4
    assert left("x.mean(-1)", APART, (8, 4, 2)) == 1 / 2
    assert left("x.mean((0, 2))", APART, (8, 4, 2)) == 1 / 16
    assert left("x.mean()", APART, (8, 4, 2)) == 1 / 64
    assert left("x.mean(-3)", APART, (8, 4, 2)) == 1 / 8
    assert left("x.topk(1)", APART, (8, 4, 5)) == 2 / 5
    assert left("x.topk(4)", APART, (8, 4, 5)) == 1  # no more than there was
    assert left("x.mean(3)", APART, (8, 4, 2)) is left("x.mean(-4)", APART, (8, 4, 2)) is None
    assert left("x.mean()", APART, ()) is None
    assert left("x.mean(0)", APART, (8, 0)) == 0


def test_what_it_leaves_of_tensors_that_were_joined() -> None:
    assert left("x.mean(0)", JOINED, (8, 4)) == 1 / 80
    assert left("x.mean(0)", JOINED, (8, 4), whole=True) == 1 / 8
    assert left("x.mean(0)", JOINED, (8, 4), 0) == 1 / 8
    assert left("x.mean(1)", JOINED, (8, 4)) == 1 / 4
    assert left("x.std(0)", JOINED, (8, 4)) is None  # of two parts it cannot be put together
    assert left("x.std(1)", JOINED, (8, 4)) == 1 / 4
    assert left("x.mean(0)", Kept(-1), (8, 4)) == 1 / 8
    assert left("x.mean(1)", Kept(-1), (8, 4)) == 1 / 40
    assert left("x.mean(0)", Kept(2), (8, 4)) is left("x.mean(0)", Kept(-3), (8, 4)) is None


def test_what_it_leaves_of_tensors_that_were_stacked() -> None:
    """There is an axis more, but where the shape is of all of them."""
    assert left("x.mean(0)", STACKED, (8, 4)) == 1 / 10
    assert left("x.mean(1)", STACKED, (8, 4)) == 1 / 8
    assert left("x.mean(2)", STACKED, (8, 4)) == 1 / 4
    assert left("x.mean(2)", STACKED, (8, 4), whole=True) is None
    assert left("x.mean(0)", STACKED, (8, 4), whole=True) == 1 / 8
    assert left("x.mean(1)", Kept(1, stacked=True), (8, 4)) == 1 / 10
    assert left("x.mean(-1)", Kept(2, stacked=True), (8, 4)) == 1 / 10
    assert left("x.mean()", STACKED, ()) == 1 / 10


@pytest.mark.parametrize(
    ("text", "of", "over"),
    [
        *(("x.mean(0)", JOINED, True), ("x.mean(1)", JOINED, False), ("x.mean()", JOINED, True)),
        *(("x.mean(0)", APART, False), ("x.mean()", APART, False), ("x.mean((1, 0))", JOINED, True)),
    ],
)
def test_whether_it_goes_over_the_items(text: str, of: Kept, over: bool) -> None:
    found = reduction(call(text), of)
    assert found is not None and found.over_items is over
