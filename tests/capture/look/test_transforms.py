"""A look within `torch.func`: there no mode may come or go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.func import grad, jacfwd, jacrev, jvp, vmap

from gpuprof.capture.base.transforms import transformed
from gpuprof.capture.look.close_look import CloseLook

X = torch.rand(4)


def in_autograd(f: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    return torch.autograd.functional.jacobian(f, X, vectorize=True, strategy="forward-mode")


TRANSFORMS: dict[str, Callable[[Callable[[torch.Tensor], torch.Tensor]], Any]] = {
    "vmap": lambda f: vmap(f)(X),
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jacfwd": lambda f: jacfwd(f)(X),
    "jacrev": lambda f: jacrev(f)(X),
    "autograd": in_autograd,
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_nothing_begins_there(name: str) -> None:
    begun = list[bool]()

    def f(x: torch.Tensor) -> torch.Tensor:
        look = CloseLook(__file__)
        begun.append(look.start())
        assert look.skipped == "a transform of torch.func runs"
        return x.sin()

    assert not transformed()
    TRANSFORMS[name](f)
    assert begun and not any(begun)
    assert not transformed() and torch._C._len_torch_dispatch_stack() == 0


@pytest.mark.parametrize("name", TRANSFORMS)
def test_nothing_ends_there(name: str) -> None:
    look = CloseLook(__file__)
    assert look.start()
    ended = list[bool]()

    def f(x: torch.Tensor) -> torch.Tensor:
        ended.append(look.stop("seconds"))
        return x.sin() * 2

    try:
        TRANSFORMS[name](f)
    finally:
        assert look.stop()
    assert ended and not any(ended)
    assert torch._C._len_torch_dispatch_stack() == 0
    TRANSFORMS[name](torch.sin)
