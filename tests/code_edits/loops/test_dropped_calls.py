"""Calls taken out of a loop."""

from __future__ import annotations

import pytest

from gpuprof.code_edits.loops.dropped_calls import drop_calls, drop_synchronising
from tests.code_edits.executed import TRAINING, run

EMPTY, COLLECT, WAIT = "torch.cuda.empty_cache", "gc.collect", "torch.cuda.synchronize"
CELL = TRAINING.replace(
    "    opt.step()\n", "    opt.step()\n    torch.cuda.empty_cache()  # was full once\n    gc.collect()\n"
)
CELL = CELL.replace("# one epoch", "import gc\n# one epoch")


def test_the_loop_gives_the_same_without_them() -> None:
    after = drop_calls(CELL, EMPTY, COLLECT)
    assert after == CELL.replace("    torch.cuda.empty_cache()  # was full once\n    gc.collect()\n", "")
    assert after is not None
    assert run(after)["total"] == run(CELL)["total"]


def test_only_what_was_asked_for_goes() -> None:
    after = drop_calls(CELL, COLLECT)
    assert after is not None and "empty_cache()" in after and "gc.collect()" not in after


def test_an_import_under_another_name_is_followed() -> None:
    cell = "from gc import collect as tidy\nfor x in range(3):\n    tidy()\n    print(x)\n"
    assert drop_calls(cell, COLLECT) == cell.replace("    tidy()\n", "")


@pytest.mark.parametrize(
    "cell",
    [
        "for x in data:\n    step(x)\ngc.collect()\n",
        "for x in data:\n    step(x)\n    if x.n % 100 == 0:\n        gc.collect()\n",
        "for x in data:\n    gc.collect()\n",
        "for x in data:\n    step(x)\n    freed = gc.collect()\n",
        "for x in data:\n    step(x); gc.collect()\n",
        "gc = Pool()\nfor x in data:\n    step(x)\n    gc.collect()\n",
        "def end():\n    gc.collect()\nfor x in data:\n    end()\n",
        "for x in data:\n    step(x)\n",
    ],
    ids=["after", "rare", "alone", "used", "shared line", "another gc", "in a function", "none"],
)
def test_where_it_is_not_plain_nothing_is_changed(cell: str) -> None:
    assert drop_calls(cell, COLLECT) is None


def test_a_synchronise_that_a_measurement_needs_stays() -> None:
    loop = "for x in data:\n    step(x)\n    torch.cuda.synchronize()\n"
    assert drop_synchronising(loop) == loop.replace("    torch.cuda.synchronize()\n", "")
    assert drop_synchronising(loop + "    times.append(time.perf_counter())\n") is None
