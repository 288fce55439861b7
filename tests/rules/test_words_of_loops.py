"""Which words of a text stand for which operators, and how deep functions are followed."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.source_loops import _base, _means, _plain, independent_lines


@pytest.mark.parametrize(
    ("word", "operator", "means"),
    [
        ("mul", "mul", True),
        ("add", "addmm", False),
        ("abs", "absolute", False),
        ("norm", "linalg_vector_norm", True),
        ("softmax", "log_softmax", True),
        ("sub", "rsub", True),
        ("and", "bitwise_and", True),
        ("or", "logical_or", True),
        ("or", "bitwise_xor", False),
        ("crossentropy", "cross_entropy_loss", True),
        ("tanh", "sigmoid", False),
    ],
)
def test_a_word_means_an_operator(word: str, operator: str, means: bool) -> None:
    assert _means(word, operator) is means


@pytest.mark.parametrize(
    ("name", "plain"),
    [("BCEWithLogitsLoss", "binarycrossentropywithlogits"), ("log_softmax", "logsoftmax"), ("loss", "loss")],
)
def test_names_without_ornament(name: str, plain: str) -> None:
    assert _plain(name) == plain
    assert _base("aten::__and__") == "and" and _base("aten::_softmax") == "softmax"


def chain(length: int) -> str:
    """So many functions that call one another, the last of which computes."""
    text = f"def f{length}(a):\n    return a.tanh()\n"
    for number in range(length - 1, 0, -1):
        text += f"def f{number}(a):\n    return f{number + 1}(a)\n"
    return text + "for k in range(20):\n    rows.append(f1(x[:, k]))\n"


def test_functions_are_followed_four_deep() -> None:
    line = chain(4).count("\n") - 1
    assert independent_lines(chain(4), ["aten::select", "aten::tanh"]) == (line,)
    assert independent_lines(chain(5), ["aten::select", "aten::tanh"]) == ()


@pytest.mark.parametrize(
    ("body", "operators", "found"),
    [
        ("rows.append(x[:, k] + y - w)", ["add", "sub"], True),
        ("rows.append(x[:, k] + y)", ["add", "add"], False),
        ("rows.append(-x[:, k] ** 2 % 3 // 2)", ["neg", "pow", "remainder", "floor_divide"], True),
        ("rows.append((x[:, k] < y) | (x[:, k] >= w))", ["lt", "ge", "__or__"], True),
        (
            "rows.append((x[:, k] <= y) & (x[:, k] > w) ^ (x[:, k] != 0))",
            ["le", "gt", "ne", "__and__", "__xor__"],
            True,
        ),
        ("rows.append(~(x[:, k] == y))", ["eq", "bitwise_not"], True),
        ("rows.append(F.normalize(x[:, k]))", ["norm", "clamp_min", "div"], True),
        ("rows.append(F.normalize(x[:, k]))", ["norm", "norm"], False),
        ("total += x[:, k] / y", ["div", "add"], True),
        ("for j in range(3):\n        rows.append(x[j, k].exp())", ["exp", "exp", "exp"], True),
        ("rows.append(x[:, k].exp() if k else y)", ["exp"], True),
        ("rows.append(x[:, k].clone())", ["clone"], False),  # that alone tells no loop
    ],
)
def test_a_turn_names_what_it_runs(body: str, operators: list[str], found: bool) -> None:
    cell = f"for k in range(20):\n    {body}\n"
    assert independent_lines(cell, [f"aten::{each}" for each in operators]) == ((1,) if found else ())
