"""What forward hooks can fill, and that none of the user's code runs to find it."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.capture.memory.hook_containers import Containers, hooks_of
from gpuprof.capture.memory.tensor_references import held_tensors, hooked_names

Filling = Callable[[list[Any]], Callable[..., None]]


def net() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())


def closure(store: list[Any]) -> Callable[..., None]:
    def keep(module: Any, inputs: Any, output: Any) -> None:
        store.append(output)

    return keep


def bound(store: list[Any]) -> Callable[..., None]:
    class Recorder:
        def __init__(self) -> None:
            self.seen = store

        def keep(self, module: Any, inputs: Any, output: Any) -> None:
            self.seen.append(output)

    return Recorder().keep


def partial(store: list[Any]) -> Callable[..., None]:
    def keep(into: list[Any], module: Any, inputs: Any, output: Any) -> None:
        into.append(output)

    return functools.partial(keep, store)


def default(store: list[Any]) -> Callable[..., None]:
    def keep(module: Any, inputs: Any, output: Any, into: list[Any] = store) -> None:
        into.append(output)

    return keep


@pytest.mark.parametrize("filling", [closure, bound, partial, default])
def test_the_name_that_a_hook_fills(filling: Filling) -> None:
    model, acts = net(), [torch.zeros(1)]
    model[1].register_forward_hook(filling(acts))  # type: ignore[index]
    namespace = {"model": model, "acts": acts, "other": [1], "nested": {"deep": [1]}}
    assert hooked_names(namespace) == ({"acts": ("keep", "model.1")}, [])


def test_a_global_that_a_hook_names_and_a_list_in_a_dict() -> None:
    namespace: dict[str, Any] = {"model": net(), "acts": {"first": deque()}}
    exec("def keep(m, i, o):\n    acts['first'].append(o)", namespace)
    namespace["model"][0].register_forward_pre_hook(namespace["keep"])
    assert hooked_names(namespace)[0] == {"acts": ("keep", "model.0")}


def test_what_only_a_hook_reaches_is_listed_under_the_hook() -> None:
    model = net()
    model[1].register_forward_hook(closure([torch.zeros(1 << 18) for _ in range(3)]))  # type: ignore[index]
    (row,) = held_tensors({"model": model}, "train()")
    assert (row.name, row.kind, row.tensors, row.bytes, row.used) == ("keep", "hook", 3, 3 << 20, True)
    assert (row.hook, row.hooked) == ("keep", "model.1")


def test_a_module_that_keeps_its_own_activations() -> None:
    class Keeps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.ReLU()
            self.seen = [torch.zeros(1 << 18)]
            self.inner.register_forward_hook(self.keep)

        def keep(self, module: Any, inputs: Any, output: Any) -> None:
            self.seen.append(output)

    (row,) = held_tensors({"model": Keeps()}, "train()")
    assert (row.kind, row.bytes, row.hooked) == ("hook", 1 << 20, "model.inner")


def test_no_code_of_the_user_runs() -> None:
    class Touchy:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

        def __call__(self, *given: Any) -> None:
            raise AssertionError

        def __eq__(self, other: object) -> bool:
            raise AssertionError

    class Odd(list[Any]):
        def __iter__(self) -> Any:
            raise AssertionError

        def __len__(self) -> int:
            raise AssertionError

    model = net()
    model[0].register_forward_hook(Touchy())  # type: ignore[index, arg-type]
    namespace = {"model": model, "touchy": Touchy(), "odd": Odd([1])}
    assert hooked_names(namespace)[0] == {}
    assert held_tensors(namespace, None) == ()


def test_no_more_is_looked_at_than_may_be() -> None:
    model, acts = net(), [1]
    model[0].register_forward_hook(closure(acts))  # type: ignore[index]
    (hook,) = hooks_of([("model", model)])
    assert Containers().of_hook(hook.function) == [acts]
    assert Containers(0).of_hook(hook.function) == []
