"""The modules of a model whose calls were marked."""

from __future__ import annotations

import msgspec


class MarkedModule(msgspec.Struct, frozen=True, kw_only=True):
    """A `torch.nn.Module` that was called. `kind`: its class; `paths` under which it hangs in a module that was called
    from outside of any (`Net.layers.0`), several where it is shared; empty where it was gone by the end."""

    kind: str
    paths: tuple[str, ...] = ()


class MarkedModules(msgspec.Struct, frozen=True, kw_only=True):
    """The modules in the table `module_calls`, which were marked from `start_ns` to `end_ns` (Unix times) but for the
    gaps (`gaps_ns`: from, to), in which nothing was marked to keep the cost down. `cost_share`: what marking took of
    that time, 0..1, from the measured cost of one mark. A call inside compiled code is never marked."""

    start_ns: int
    end_ns: int
    modules: tuple[MarkedModule, ...] = ()
    gaps_ns: tuple[tuple[int, int], ...] = ()
    cost_share: float | None = None
