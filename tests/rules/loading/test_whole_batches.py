"""Datasets that take a list of indices as they are, by their text and by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from msgspec import structs
from torch.utils.data import BatchSampler, DataLoader, Dataset, SequentialSampler

from gpuprof.analyses.basics.result import Results
from gpuprof.capture.loading.loader_facts import loader_facts
from gpuprof.model.context import Cell, Loader, SampledFile, SampledStacks
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.loading.whole_batches import takes_index_lists
from tests.support.trace_builder import CELL_FILE, TraceBuilder

TENSOR, ARRAY, LIST = "torch.Tensor", "numpy.ndarray", "builtins.list"
HELD = {"self.x": TENSOR, "self.y": ARRAY, "self.names": LIST}
LOADER = Loader(workers=0, batch_size=8, dataset="Rows", collated_by="torch")
SET_UP = """class Rows(Dataset):
    def __init__(self):
        self.x, self.y = torch.arange(24.0).reshape(12, 2), np.arange(12, dtype=np.float32)
        self.names = ["a"] * 12
    def __len__(self):
        return 12
    def __getitem__(self, i):
"""


def taken(body: str, loader: Loader = LOADER, held: dict[str, str] = HELD, text: str = SET_UP) -> bool:
    source = text + "".join(f"        {line}\n" for line in body.split("; "))
    last = source.count("\n")
    seen = tuple(
        Operand(file=CELL_FILE, first=7, last=last, name=name, kind=kind, looks=3) for name, kind in held.items()
    )
    stacks = SampledStacks(
        how="memory", start_ns=0, end_ns=9, rate_hz=30, files=(SampledFile(filename=CELL_FILE, kind="cell"),)
    )
    made = TraceBuilder().context(cell=Cell(source=source), stacks=stacks, operands=Operands(looks=3, seen=seen))
    return takes_index_lists(Results(made.build()), loader)


ROWS = [
    "return self.x[i], self.y[i]",
    "return self.x[i]",
    "return {'x': self.x[i], 'y': self.y[i]}",
    "'Of one row.'; x = self.x[i]; y = torch.from_numpy(self.y)[i]; return x, y",
    "x = self.x[i]; return x.float(), torch.as_tensor(self.y[i])",
]


@pytest.mark.parametrize("body", [each for each in ROWS if "(self.y)[i]" not in each])
def test_rows_of_what_it_holds(body: str) -> None:
    assert taken(body)
    names: dict[str, Any] = {"Dataset": Dataset, "torch": torch, "np": np}
    exec(SET_UP + "".join(f"        {line}\n" for line in body.split("; ")), names)
    rows = names["Rows"]()
    one_by_one = DataLoader(rows, batch_size=8)
    at_once = DataLoader(rows, batch_size=None, sampler=BatchSampler(SequentialSampler(rows), 8, drop_last=False))
    for each, again in zip(one_by_one, at_once, strict=True):
        assert str(each) == str(again)


@pytest.mark.parametrize(
    "body",
    [
        "return self.names[i], self.x[i]",
        "return self.x[i + 1]",
        "return self.x[i], i",
        "return self.x[i] if i else self.x[0]",
        "return self.x[i].sum()",
        "return self.x[i], 1",
        "i = 3; return self.x[i]",
        "x = self.x; return x[i]",
        "x = torch.tensor(self.x[i], dtype=kinds[i]); return x",
        "print(i); return self.x[i]",
        "return self.x[i].to(kinds[i])",
        "return self.x[i].to(dtype=kinds[i])",
        "return self.other[i]",
        "return ()",
        ROWS[3],
    ],
)
def test_anything_else_may_not(body: str) -> None:
    assert not taken(body)


@pytest.mark.parametrize(
    "facts",
    [
        {"collated_by": "own"},
        {"collated_by": "nobody"},
        {"collated_by": None},
        {"iterable": True},
        {"dataset": "Other"},
        {"dataset": None},
        {"inner_dataset": "Other"},
    ],
)
def test_not_with_another_loader(facts: dict[str, Any]) -> None:
    assert taken(ROWS[0])
    assert not taken(ROWS[0], structs.replace(LOADER, **facts))


def test_parts_of_a_dataset_are_as_the_dataset() -> None:
    assert taken(ROWS[0], structs.replace(LOADER, dataset="Subset", inner_dataset="Rows"))
    assert taken("pass", structs.replace(LOADER, dataset="TensorDataset"))
    assert not taken("pass", structs.replace(LOADER, dataset="TensorDataset", collated_by="own"))


def test_not_what_was_never_seen_or_stands_twice_or_has_whole_batches() -> None:
    whole = SET_UP.replace(
        "    def __len__", "    def __getitems__(self, rows):\n        return self.x[rows]\n    def __len__"
    )
    assert not taken(ROWS[0], text=whole)
    assert not taken(ROWS[0], held={})
    assert not taken(ROWS[0], text=f"{SET_UP}        return 1\n{SET_UP}")


class Rows(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, at: int) -> torch.Tensor:
        return torch.ones(2)


def test_who_puts_samples_together_is_recorded() -> None:
    rows = Rows()
    part = torch.utils.data.Subset(torch.utils.data.Subset(rows, range(8)), range(4))

    def collated(**settings: Any) -> Loader:
        loader = DataLoader(part, **settings)
        facts = loader_facts(loader, iter(loader))
        assert loader_facts(None, iter(loader)).collated_by == facts.collated_by
        return facts

    assert collated(batch_size=2).collated_by == "torch"
    assert collated(batch_size=2, collate_fn=torch.stack).collated_by == "own"
    assert collated(batch_size=None).collated_by == "nobody"
    assert collated(batch_size=2).inner_dataset == "Rows"
    assert loader_facts(DataLoader(rows), iter(DataLoader(rows))).inner_dataset is None
