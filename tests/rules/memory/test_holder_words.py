"""Containers within containers, in words."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.kept_memory import KeptMemory, KeptTensors
from gpuprof.model.context import Cell
from gpuprof.model.memory import HeldTensors, HolderLevel
from gpuprof.rules.memory.holder_words import holder, number_held
from tests.rules.memory.memory_runs import allocator, run


def kept(*levels: tuple[str, int, str], **facts: Any) -> KeptTensors:
    way = tuple(HolderLevel(kind=kind, items=items, step=step) for kind, items, step in levels)
    figures: dict[str, Any] = {"kind": "global", "bytes": 8, "tensors": 1200, "unseen_bytes": 8, "graph_bytes": 0}
    held = HeldTensors(name="kept", device="cuda:0", levels=way, **(figures | facts))
    builder = run(held=(held,), allocators=(allocator(6, 6),), cell=Cell(source=""))
    (device,) = Results(builder.build()).get(KeptMemory).devices
    return device.kept[0]


EACH, TENSOR = "[…]", ("Tensor", 0, "")


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([], ""),
        ([("list", 36, EACH), TENSOR], ""),
        ([("defaultdict", 3, EACH), ("list", 36, EACH), TENSOR], "a defaultdict of 3 lists of 36 tensors"),
        ([("OrderedDict", 1, EACH), ("list", 2, EACH), ("ndarray", 0, "")], "an OrderedDict of 1 list of 2 arrays"),
        (
            [("list", 9, EACH), ("tuple", 2, "[0]"), ("dict", 6, EACH), TENSOR],
            "a list of 9 tuples with a dict of 6 tensors",
        ),
        (
            [("dict", 4, EACH), ("Run", 3, ".history"), ("list", 7, EACH), ("dict", 3, '["state"]'), ("dict", 2, "")],
            "a dict of 4 `Run` objects with `history`, a list of 7 dicts with `state`, a dict",
        ),
        ([("list", 20, EACH), ("dict", 2, '["net"]'), ("Net", 2, "")], "a list of 20 dicts with `net`, a `Net` object"),
    ],
)
def test_the_containers_on_the_way(levels: list[tuple[str, int, str]], words: str) -> None:
    assert holder(kept(*levels)).replace("\xa0", " ") == (f"`kept` ({words})" if words else "`kept`")


def test_numbers_that_are_estimated() -> None:
    assert number_held(kept()).replace("\xa0", " ") == "1,200 tensors"
    assert number_held(kept(looked_share=0.4)).replace("\xa0", " ") == "about 1,200 tensors"
    assert number_held(kept(arrays=200)).replace("\xa0", " ") == "1,000 tensors and 200 arrays"
