"""Looks at pieces of code, and how to read what they found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.look import Look
from gpuprof.model.table import Table

# a version that has one has flex_attention, makes classes of tensors beside a mode, and compiles beside it
RECENT = hasattr(TorchDispatchMode, "supports_higher_order_operators")


class Found:
    """Tables and names of a look that has ended."""

    def __init__(self, look: CloseLook):
        tables, self.facts = look.result()
        assert look.failure is None
        self.operators, self.values, self.reads, self.results = tables
        self.facts: Look

    def named(self, name: str) -> list[int]:
        """Rows of the operators of that name, such as `mm`, whatever their overload."""
        full = [self.name(each).partition("::")[2].partition(".")[0] for each in self.operators["name"]]
        return [row for row, each in enumerate(full) if each == name]

    def name(self, number: int) -> str:
        return self.facts.names[number]

    def read(self, operator: int) -> list[int]:
        """The values that it read."""
        return self.reads["value"][self.reads["operator"] == operator].tolist()

    def made(self, operator: int) -> list[int]:
        return self.results["value"][self.results["operator"] == operator].tolist()

    def fingerprint(self, value: int) -> int:
        return int(self.values["fingerprint"][value])


def look_at(code: Callable[[], Any], **options: Any) -> Found:
    """What is found where that code runs."""
    look = CloseLook(__file__, **{"most_seconds": 60.0, **options})
    with look:
        code()
    assert torch._C._len_torch_dispatch_stack() == 0
    return Found(look)


def table_texts(found: Found, table: Table, column: str) -> list[str]:
    return [found.name(number) if number >= 0 else "" for number in table[column]]
