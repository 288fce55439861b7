"""What each kind of operator needs of its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.algorithm_costs import singular_values
from gpuprof.analyses.demand.need import Need, box, everything, nothing
from gpuprof.analyses.demand.transfer import Applied, decomposed_share, needs_of, worked_share

ROW = np.array([True, False, False])
Shape = tuple[int, ...]


def row_of(*shape: int) -> Need:
    """Only the first of three, of the first axis."""
    return box(shape, (ROW, *[None] * (len(shape) - 1)))


def needed(name: str, need: Need, *reads: Shape, arguments: list[Any] | None = None) -> list[int]:
    """How many elements of each argument."""
    return [each.elements for each in needs_of(Applied(f"aten::{name}", reads, arguments, (need,)))]


def test_nothing_needs_nothing() -> None:
    assert needed("mm", nothing((3, 4)), (3, 5), (5, 4)) == [0, 0]
    assert needed("unheard_of", nothing((3, 4)), (3, 5)) == [0]


def test_what_is_not_known_needs_all() -> None:
    assert needed("unheard_of", row_of(3, 4), (3, 5)) == [15]


@pytest.mark.parametrize(
    ("name", "reads", "expected"),
    [
        ("relu", [(3, 4)], [4]),
        ("add_.Tensor", [(3, 4), (4,)], [4, 4]),
        ("mul.Tensor", [(3, 4), (3, 1)], [4, 1]),
        ("mul.Tensor", [(3, 4), ()], [4, 1]),
        ("add.Tensor", [(3, 4), (2, 5)], [4, 10]),  # no broadcast that is known
        ("mm", [(3, 5), (5, 4)], [5, 20]),
        ("addmm", [(4,), (3, 5), (5, 4)], [4, 5, 20]),
        ("linear", [(3, 5), (4, 5), (4,)], [5, 20, 4]),
        ("cdist", [(3, 5), (4, 5)], [5, 20]),
        ("index_select", [(9, 4), (3,)], [4, 3]),
        ("zeros_like", [(3, 4)], [0]),
        ("fill_.Scalar", [(3, 4)], [0]),
        ("fill_.Tensor", [(3, 4), ()], [12, 1]),  # unknown: it reads the number
        ("bernoulli_.float", [(3, 4)], [0]),
        ("bernoulli_.Tensor", [(3, 4), (3, 4)], [12, 12]),
    ],
)
def test_a_row_of_a_matrix(name: str, reads: list[Shape], expected: list[int]) -> None:
    assert needed(name, row_of(3, 4), *reads) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("_softmax", [None, 1, False], 4),
        ("_softmax", [None, -1, False], 4),
        ("_softmax", [None, 0, False], 12),
        ("_softmax", None, 12),
        ("cumsum", [None, 1], 4),
        ("native_layer_norm", [None, [4], None, None, 1e-5], 4),
        ("native_layer_norm", [None, [3, 4], None, None, 1e-5], 12),
    ],
)
def test_rows_that_are_mixed(name: str, arguments: list[Any] | None, expected: int) -> None:
    assert needed(name, row_of(3, 4), (3, 4), arguments=arguments) == [expected]


def test_reductions_need_all_that_they_reduce() -> None:
    assert needed("sum.dim_IntList", row_of(3), (3, 4), arguments=[None, [1], False]) == [4]
    assert needed("sum.dim_IntList", row_of(3, 1), (3, 4), arguments=[None, [1], True]) == [4]
    assert needed("sum.dim_IntList", row_of(3), (4, 3), arguments=[None, [0], False]) == [4]
    assert needed("sum", everything(()), (3, 4), arguments=[None]) == [12]


def test_a_diagonal_of_a_product_needs_all_rows_and_columns() -> None:
    assert needed("mm", everything((3, 3)).at_most(3), (3, 5), (5, 3)) == [15, 15]
    assert needed("relu", everything((3, 3)).at_most(3), (3, 3)) == [3]


def test_a_matrix_times_a_vector() -> None:
    assert needed("mv", row_of(3), (3, 5), (5,)) == [5, 5]
    # one as long as the result is not taken for the matrix
    assert needed("mv", row_of(3), (3, 3), (3,)) == [3, 3]
    # shapes that do not fit: all of them
    assert needed("mv", row_of(3), (4, 5), (5,)) == [20, 5]
    assert needed("mv", row_of(3), (3,), (3,)) == [3, 3]
    assert worked_share("mv", row_of(3)) == pytest.approx(1 / 3)


def test_batches() -> None:
    assert needed("bmm", row_of(3, 4, 6), (3, 4, 5), (3, 5, 6)) == [20, 30]
    assert needed("convolution", row_of(3, 8, 4, 4), (3, 2, 4, 4), (8, 2, 3, 3)) == [32, 144]
    assert needed("max_pool2d_with_indices", row_of(3, 8, 2, 2), (3, 8, 4, 4)) == [128]


def test_attention_needs_all_keys_of_a_query() -> None:
    first = box((1, 2, 3, 8), (None, None, ROW, None))
    reads = [(1, 2, 3, 8)] * 3
    assert needed("_scaled_dot_product_flash_attention_for_cpu", first, *reads) == [16, 48, 48]
    assert worked_share("_scaled_dot_product_flash_attention_for_cpu", first) == pytest.approx(1 / 3)


def test_parts_of_what_is_joined() -> None:
    assert needed("cat", row_of(3, 4), (1, 4), (2, 4), arguments=[[None, None], 0]) == [4, 0]
    assert needed("cat", row_of(3, 4), (1, 4), (2, 4)) == [4, 8]
    assert needed("stack", row_of(3, 4), (4,), (4,), (4,), arguments=[[None] * 3, 0]) == [4, 0, 0]


@pytest.mark.parametrize(
    ("name", "need", "reads", "arguments", "expected"),
    [
        ("relu", row_of(3), [(2, 3)], None, [6]),
        ("_softmax", row_of(3, 4), [(3, 4), (3, 4)], [None, 1], [4, 12]),
        ("_softmax", row_of(3, 4), [(5, 4)], [None, 1], [20]),
        ("_softmax", row_of(3), [(3, 4, 5)], [None, 1], [60]),
        ("_softmax", row_of(3, 4), [(3, 4)], [None, []], [12]),
        ("_softmax", row_of(3, 4), [(3, 4)], [None, "1"], [12]),
        ("native_layer_norm", row_of(3, 4), [(3, 4), (4,)], [None, [4]], [4, 4]),
        ("native_layer_norm", row_of(3, 4), [(5, 4)], [None, [4]], [20]),
        ("native_layer_norm", row_of(3, 4), [(3, 4)], [None, [2, 3, 4]], [12]),
        ("native_layer_norm", row_of(3, 4), [(3, 4)], None, [12]),
        ("mm", row_of(3, 4), [(9, 5), (5, 4)], None, [45, 20]),
        ("mm", row_of(3, 4), [(3, 5), (5, 9)], None, [5, 45]),
        ("matmul", row_of(3, 4), [(3, 5), (5,)], None, [5, 5]),
        ("matmul", row_of(3, 4), [(2, 3, 5), (5, 4)], None, [30, 20]),
        ("bmm", row_of(3, 4, 6), [(2, 4, 5), (3, 5, 6)], None, [40, 30]),
        ("linear", row_of(3, 4), [(9, 5), (9, 5)], None, [45, 45]),
        ("convolution", row_of(3, 8, 4, 4), [(2, 2, 4, 4), (8, 2, 3, 3)], None, [64, 144]),
        ("max_pool2d_with_indices", row_of(3, 8, 2), [(3, 8, 4)], None, [96]),
        ("max_pool2d_with_indices", row_of(3, 8, 2, 2), [(3, 9, 4, 4)], None, [432]),
        ("scaled_dot_product_attention", row_of(3, 2, 4, 8), [(5, 2, 4, 8)], None, [320]),
        ("cat", row_of(3, 4), [(0,), (3, 4)], [[None] * 2, 0], [0, 12]),
        ("cat", row_of(3, 4), [(1, 4), (2, 4)], [[None] * 2, "0"], [4, 8]),
        ("stack", row_of(3, 4), [(4,)] * 3, None, [4, 4, 4]),
        ("stack", row_of(3, 4), [(3, 4)], [[None], 0], [12]),
        ("cat", row_of(3, 4), [(1, 4), (2, 4)], [[None] * 2], [4, 8]),
        ("stack", row_of(3, 4), [(4,)] * 3, [[None] * 3], [4, 4, 4]),
        ("native_layer_norm", row_of(3, 4), [(3, 4)], [None], [12]),
        ("native_layer_norm", row_of(3, 4), [(3, 4)], [None, 4], [12]),
        ("native_layer_norm", row_of(3, 4), [(3, 4)], [None, []], [12]),
        ("_softmax", row_of(3, 4), [(3, 4)], [None], [12]),
    ],
)
def test_shapes_and_arguments_that_do_not_fit_need_all(
    name: str, need: Need, reads: list[Shape], arguments: list[Any] | None, expected: list[int]
) -> None:
    assert needed(name, need, *reads, arguments=arguments) == expected


@pytest.mark.parametrize(
    ("name", "need", "reads", "arguments", "expected"),
    [
        ("_softmax_backward_data", row_of(3, 4), [(3, 4), (3, 4)], [None, None, 1], [4, 4]),
        ("matmul", row_of(3, 4, 6), [(1, 4, 5), (3, 5, 6)], None, [20, 30]),
        ("addmm", row_of(3, 4), [(3, 4), (3, 5), (5, 4)], None, [4, 5, 20]),
        ("mm", box((4, 3), (None, ROW)), [(4, 5), (5, 3)], None, [20, 5]),
        ("cdist", box((4, 3), (None, ROW)), [(4, 5), (3, 5)], None, [20, 5]),
        ("linear", box((4, 3), (None, ROW)), [(4, 5), (3, 5), (3,)], None, [20, 5, 3]),
        ("cat", row_of(3, 4), [(3, 1), (3, 3)], [[None] * 2, -1], [1, 3]),
        ("stack", row_of(3, 2), [(3,), (3,)], [[None] * 2, -1], [1, 1]),
        ("index_select", row_of(3, 4), [(2, 1), (3,)], None, [2, 3]),
    ],
)
def test_rows_and_columns_of_factors_and_parts(
    name: str, need: Need, reads: list[Shape], arguments: list[Any] | None, expected: list[int]
) -> None:
    assert needed(name, need, *reads, arguments=arguments) == expected


def several(name: str, reads: list[Shape], arguments: list[Any] | None, *needs: Need) -> list[int]:
    return [each.elements for each in needs_of(Applied(f"aten::{name}", reads, arguments, needs))]


def test_of_several_results_each_that_is_needed_counts() -> None:
    last = box((3, 2), (np.array([False, False, True]), None))
    assert several("topk", [(3, 8)], [None, 2, 1], row_of(3, 2), nothing((3, 2))) == [8]
    assert several("topk", [(3, 8)], [None, 2, 1], nothing((3, 2)), last) == [8]
    assert several("topk", [(3, 8)], [None, 2, 1], row_of(3, 2), last) == [16]
    assert several("topk", [(3, 8)], [None, 2, 1], row_of(3, 2), everything((5, 2))) == [24]
    norm = [None, [4], None, None, 1e-5]
    assert several("native_layer_norm", [(3, 4)], norm, row_of(3, 4), nothing((3, 1)), nothing((3, 1))) == [4]
    assert several("native_layer_norm", [(3, 4)], norm, row_of(3, 4), everything((3, 1)), nothing((3, 1))) == [12]
    pooled = row_of(3, 8, 2, 2)
    assert several("max_pool2d_with_indices", [(3, 8, 4, 4)], None, nothing((3, 8, 2, 2)), pooled) == [128]
    flash, query = "_scaled_dot_product_flash_attention_for_cpu", (1, 2, 3, 8)
    first = box(query, (None, None, ROW, None))
    assert several(flash, [query] * 3, None, first, nothing((1, 2, 3))) == [16, 48, 48]
    assert several(flash, [query] * 3, None, first, everything((1, 2, 3))) == [48, 48, 48]
    assert several(flash, [query] * 3 + [(1, 1, 3, 3)], None, first) == [16, 48, 48, 9]


def test_work_counts_in_parts_only_where_parts_are_computed_apart() -> None:
    assert worked_share("mm", row_of(3, 4)) == pytest.approx(1 / 3)
    assert worked_share("unheard_of", row_of(3, 4)) == 1
    assert worked_share("unheard_of", nothing((3, 4))) == 0
    assert worked_share("convolution", everything((3, 8, 4, 4)).at_most(5)) == 1


SINGULAR = {"u": (6, 6), "s": (2,), "v": (2, 2)}


@pytest.mark.parametrize(
    ("arguments", "needs", "least"),
    [
        # the columns that two singular values do not have
        ([None, True], {"u": box((6, 6), (None, np.arange(6) < 2)), "s": everything((2,))}, True),
        ([None, True], {"s": everything((2,))}, True),
        ([None, True], {"v": everything((2, 2))}, True),
        ([None, True], {"u": everything((6, 6))}, False),
        ([None, True], {"u": box((6, 6), (None, np.arange(6) < 3))}, False),
        ([None, False], {"s": everything((2,))}, False),
        ([None], {"s": everything((2,))}, False),
        (None, {"s": everything((2,))}, False),
    ],
)
def test_an_svd_with_full_matrices_of_which_a_part_is_read(
    arguments: list[Any] | None, needs: dict[str, Need], least: bool
) -> None:
    each = tuple(needs.get(name, nothing(shape)) for name, shape in SINGULAR.items())
    assert decomposed_share(arguments, each) == (1 / singular_values(1, 6, 2) if least else 1.0)


@pytest.mark.parametrize("arguments", [[None, True], [None, False], None])
def test_an_svd_that_nobody_reads_takes_nothing(arguments: list[Any] | None) -> None:
    assert decomposed_share(arguments, tuple(nothing(shape) for shape in SINGULAR.values())) == 0.0
    # another decomposition
    assert decomposed_share([None, True], (everything((6, 6)), nothing((2,)))) == 1.0


def test_what_acts_besides_its_result() -> None:
    assert names.acts("aten::native_batch_norm")
    assert not names.acts("aten::native_batch_norm_backward")
    assert names.acts("mine::send")
    assert not names.acts("aten::relu")


def test_elementwise_operators_are_so_to_torch() -> None:
    """Each has an overload that torch calls pointwise, or is one of these."""
    torch = pytest.importorskip("torch")
    others = {"_to_copy", "copy", "floor_divide", "hardswish", "leaky_relu_backward", "native_dropout"}
    others |= {"softplus_backward", "tril", "triu"}
    for name in names.ELEMENTWISE - others:
        packet = getattr(torch.ops.aten, name)
        assert any(torch.Tag.pointwise in getattr(packet, each).tags for each in packet.overloads()), name


def test_a_diagonal_that_is_copied_or_added_up() -> None:
    """`torch.diag(a @ b)` and `torch.trace(a @ b)`."""
    copied, whole = everything((4,)), everything(())
    assert needed("diagonal_copy", copied, (4, 4)) == [4]
    assert needed("trace", whole, (4, 6)) == [4]
    assert needed("trace", whole, (2, 4, 6)) == [48]
