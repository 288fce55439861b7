"""What the names of a notebook hold."""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from gpuprof.capture.memory.tensor_references import held_tensors
from gpuprof.capture.session.session import Session
from gpuprof.model.context import Cell
from gpuprof.model.memory import HeldTensors

MIB = 1 << 20


def block(mib: float = 1) -> torch.Tensor:
    return torch.zeros(int(mib * MIB) // 4)


@pytest.fixture(autouse=True)
def no_traceback(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("last_value", "last_traceback", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)
    yield


def rows(namespace: dict[str, Any], source: str | None = "train()") -> list[tuple[str, str, int, bool]]:
    return [(row.name, row.kind, row.bytes, row.used) for row in held_tensors(namespace, source)]


def test_names_and_sizes_the_largest_first() -> None:
    namespace = {"x": block(), "kept": [block(2), {"deep": (block(2),)}], "small": block(0.5), "n": 3, "_hidden": 1}
    assert rows(namespace) == [("kept", "global", 4 * MIB, False), ("x", "global", MIB, False)]


def test_a_name_in_the_cell_or_in_a_function_of_the_notebook_is_in_use() -> None:
    def body() -> Any:
        return in_function  # type: ignore[name-defined]  # noqa: F821

    function = types.FunctionType(body.__code__, {"__name__": "__main__"}, "body")
    function.__module__ = "__main__"
    namespace = {"in_cell": block(), "in_function": block(), "neither": block(), "body": function}
    assert {row[0]: row[3] for row in rows(namespace, "y = in_cell + 1")} == {
        "in_cell": True,
        "in_function": True,
        "neither": False,
    }


def test_the_shape_of_the_largest_tensor() -> None:
    kept = [torch.zeros(64, 2048), torch.zeros(16, 128, 1024), torch.zeros(8)]
    (row,) = held_tensors({"kept": kept}, "train()")
    assert row.shape == (16, 128, 1024) and row.tensors == 3


def test_without_a_source_nothing_is_said_to_be_unused() -> None:
    assert rows({"x": block()}, None) == [("x", "global", MIB, True)]


def test_what_something_else_refers_to_is_in_use() -> None:
    x, alone = block(), block(2)
    holder = types.SimpleNamespace(x=x)
    namespace = {"x": x, "alone": alone, "alias": alone}
    del x, alone
    assert {row[0]: row[3] for row in rows(namespace)} == {"x": True, "alone": False}
    assert holder.x is not None


def test_a_dataset_in_use_claims_its_tensors() -> None:
    x = block()
    namespace = {"x": x[1:], "data": torch.utils.data.TensorDataset(x)}
    assert rows(namespace, "for batch in data: pass") == [("data", "global", MIB, True)]


def test_a_model_that_a_trainer_in_use_holds_is_in_use() -> None:
    class Trainer:
        def __init__(self, model: torch.nn.Module):
            self.model = model

    net = torch.nn.Linear(512, 512, bias=False)
    namespace = {"model": net, "trainer": Trainer(net)}
    del net
    assert rows(namespace, "trainer.fit()") == [("trainer", "global", MIB, True)]
    assert rows(namespace, "nothing") == [("model", "module", MIB, True)]


def test_a_long_list_of_small_tensors_leaves_time_for_what_comes_after_it() -> None:
    """More of them than can be gone through in the time that there is."""
    corpus = [(torch.zeros(4), 1) for _ in range(40_000)]
    namespace = {"corpus": corpus, "kept": [{"weight": block()} for _ in range(4)], "last": block(2)}
    found = {name: size for name, _, size, _ in rows(namespace)}
    assert (found["kept"], found["last"]) == (4 * MIB, 2 * MIB)


def test_views_and_outputs_count_once_under_the_name() -> None:
    x = block()
    namespace = {"x": x, "view": x[:10], "Out": {3: x, 4: block(3)}, "_": None, "In": []}
    assert rows(namespace) == [("Out[4]", "output", 3 * MIB, False), ("x", "global", MIB, True)]


def test_a_model_holds_its_parameters_and_gradients() -> None:
    net = torch.nn.Linear(512, 512, bias=False)
    net.weight.grad = torch.zeros_like(net.weight)
    namespace = {"old": net}
    del net
    assert rows(namespace) == [("old", "module", 2 * MIB, False)]


def test_losses_with_their_graphs_are_listed_however_small() -> None:
    weight = torch.ones(1, requires_grad=True)
    losses = [weight * 2 for _ in range(40)]
    (row,) = held_tensors({"losses": losses}, "train()")
    assert (row.name, row.tensors, row.graphs, row.bytes) == ("losses", 40, 40, 160)


def test_frames_of_the_last_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        activations = block(3)
        raise MemoryError(len(activations))

    try:
        fail()
    except MemoryError as error:
        monkeypatch.setattr(sys, "last_value", error, raising=False)
    assert rows({}) == [("activations in fail()", "traceback", 3 * MIB, False)]


def test_nothing_is_kept_alive() -> None:
    namespace = {"x": block(), "Out": {1: [block()]}}
    alive = weakref.ref(namespace["x"])
    held_tensors(namespace, "")
    namespace.clear()
    assert alive() is None


def test_odd_objects_are_left_in_peace() -> None:
    class Odd:
        def __getattribute__(self, name: str) -> Any:
            raise ZeroDivisionError(name)

        def __iter__(self) -> Any:
            raise ZeroDivisionError

    cycle: list[Any] = [block()]
    cycle.append(cycle)
    namespace = {"odd": Odd(), "cycle": cycle, "meta": torch.empty(1 << 22, device="meta")}
    assert [row[0] for row in rows(namespace)] == ["cycle"]


def test_a_session_lists_what_the_notebook_holds(new_session: Callable[..., Session]) -> None:
    cell = Cell(source="pass")
    session = Session(new_session()._options, cell=cell, namespace={"left": block(2)})
    session.start()
    held = session.stop().context.held
    assert held == (
        HeldTensors(
            name="left",
            kind="global",
            device="cpu",
            bytes=2 * MIB,
            tensors=1,
            graph_bytes=0,
            shape=(2 * MIB // 4,),
            way_bytes=2 * MIB,
        ),
    )
