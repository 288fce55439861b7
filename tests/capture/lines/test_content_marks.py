"""A number that stands for the content of a value."""

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gpuprof.capture.lines.content_marks import mark_of

LARGE = np.random.default_rng(0).standard_normal((700, 600))


def number(value: Any) -> int:
    mark = mark_of(value)
    assert mark is not None
    return mark.number


@given(arrays.arrays(arrays.scalar_dtypes().filter(lambda each: each.kind in "biufc"), arrays.array_shapes()))
def test_a_copy_has_the_same_number(array: Any) -> None:
    assert number(array) == number(array.copy())


@given(arrays.arrays(np.float32, (40, 50), elements=st.floats(-1, 1, width=32)), st.integers(0, 1999))
def test_of_small_arrays_each_element_counts(array: Any, at: int) -> None:
    other = array.copy()
    other.reshape(-1)[at] += 1
    assert number(array) != number(other)


@pytest.mark.parametrize(
    "seen_as",
    [
        lambda array: array,
        lambda array: array.T,
        lambda array: array[:, ::2],
        lambda array: np.broadcast_to(array[0], (700, 600)),
    ],
)
def test_large_arrays_are_read_in_part(seen_as: Callable[[Any], Any]) -> None:
    mine = number(seen_as(LARGE))
    assert mine == number(seen_as(LARGE.copy()))
    assert mine != number(seen_as(LARGE + 1e-9))


def test_what_is_read_is_bounded() -> None:
    cube = np.broadcast_to(np.arange(100.0), (100, 100, 100, 100))
    assert mark_of(cube) is not None
    text = "a" * (1 << 20)
    assert number(text) == number("a" * (1 << 20)) != number(text + "b")
    assert mark_of(np.array(["a" * 1000])) is None


class _Asking(type):
    def __eq__(cls, other: object) -> bool:
        raise AssertionError("code of the user's ran")

    def __hash__(cls) -> int:
        raise AssertionError("code of the user's ran")

    @property
    def __module__(cls) -> str:  # type: ignore[override]
        raise AssertionError("code of the user's ran")


def test_a_metaclass_is_not_asked() -> None:
    assert mark_of(_Asking("Odd", (), {"__module__": "own"})()) is not None


def test_shape_and_type_are_a_part_of_it() -> None:
    zeros = np.zeros((4, 6))
    assert len({number(zeros), number(zeros.T), number(zeros.astype("f4")), number(zeros.view("i8"))}) == 4
    assert number(torch.zeros(4, 6)) != number(torch.zeros(6, 4))


@pytest.mark.parametrize(
    "value",
    [
        [1, 2, "three", None, 4.5],
        {"a": np.arange(3), "b": [torch.ones(2)]},
        (np.float32(2), b"x", True),
        torch.arange(12).reshape(3, 4),
        torch.tensor(3.5),
        torch.ones(3, dtype=torch.bfloat16).float(),
    ],
)
def test_values_of_several_kinds(value: Any) -> None:
    assert number(value) == number(copy.deepcopy(value))


class _Own:
    def __init__(self, holds: object = None) -> None:
        self.holds = holds

    def __hash__(self) -> int:
        raise AssertionError("code of the user's ran")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("code of the user's ran")


@pytest.mark.parametrize(
    "value",
    [
        iter([1]),
        [1, object()],
        {"a": threading.Lock()},
        _Own(iter([1])),
        [[[[[[[1]]]]]]],
        [[0] * 100 for _ in range(100)],
        torch.nn.Linear(2, 2),
        torch.ones(3, requires_grad=True),
        torch.ones(3).to_sparse(),
        np.array([_Own()]),
    ],
)
def test_what_is_not_looked_into(value: Any) -> None:
    assert mark_of(value) is None


def test_an_object_is_what_it_holds() -> None:
    assert number(_Own(LARGE)) == number(_Own(LARGE.copy())) != number(_Own(LARGE + 1))
    assert number(_Own(len)) == number(_Own(len)) != number(_Own(max))


def test_a_loader_is_its_data() -> None:
    def loader(rows: torch.Tensor) -> Any:
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows), batch_size=4, shuffle=True)

    rows = torch.arange(4000.0).reshape(1000, 4)
    assert number(loader(rows)) == number(loader(rows.clone())) != number(loader(rows + 1))


def test_tables_and_sparse_matrices() -> None:
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    table = pandas.DataFrame({"a": np.arange(5), "b": np.arange(5) / 3})
    assert number(table) == number(table.copy())
    assert number(table) != number(table.assign(b=1.0))
    matrix = sparse.random(20, 20, 0.2, format="csr", random_state=0)
    assert number(matrix) == number(matrix.copy()) != number(2 * matrix)


def test_what_scikit_learn_has_fitted() -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    data = np.random.default_rng(0).standard_normal((30, 3))
    first, again, other = (preprocessing.StandardScaler().fit(each) for each in (data, data.copy(), data + 1))
    assert number(first) == number(again) != number(other)


def test_only_contents_that_tell_something_are_told() -> None:
    def told(value: Any) -> bool:
        mark = mark_of(value)
        return mark is not None and mark.told

    assert told(LARGE) and told(torch.arange(5000)) and told(list(range(5000))) and told([LARGE, 3])
    few = (np.zeros(100_000), np.arange(100), np.array([0.5, 1.5]), list(range(100)), [1] * 5000, 3.5, torch.zeros(9))
    assert not any(told(each) for each in few)
