"""The line that takes the wait for batches."""

from __future__ import annotations

import sysconfig
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.wait_lines import WaitLine, WaitLines
from gpuprof.model.context import Cell, Loader
from tests.support.trace_builder import CELL_FILE, TraceBuilder

LIBRARY = sysconfig.get_paths()["purelib"]
LOOP = (CELL_FILE, "<module>", 20)
FETCH = (f"{LIBRARY}/torch/utils/data/_utils/fetch.py", "fetch", 52)
ITEM = (CELL_FILE, "Photos.__getitem__", 6)
AUGMENT = (CELL_FILE, "augment", 2)
LOAD = (f"{LIBRARY}/numpy/lib/npyio.py", "load", 400)
RESIZE = (f"{LIBRARY}/PIL/Image.py", "resize", 10)
SOURCE = """def augment(x):
    y = torch.flip(x)
    return y
class Photos:
    def __getitem__(self, i):
        return zlib.decompress(self.blobs[i])
"""
Frames = tuple[tuple[str, str, int], ...]


def waiting(
    *shares: tuple[float, Frames], workers: int = 0, wait_us: float = 50_000, steps: int = 10, **loader: Any
) -> TraceBuilder:
    """Steps of 100 ms, the first half of each a wait, with these stacks one after the other below the loop."""
    known = Loader(workers=workers, line=12, **loader)
    builder = TraceBuilder().context(loaders=(known,), cell=Cell(source=SOURCE, filename=CELL_FILE))
    for at in range(0, steps * 100_000, 100_000):
        builder.step(at, 100_000).data_wait(at, wait_us, workers=workers).operator("aten::mm", at + wait_us, 1000)
        begun = float(at)
        for share, frames in shares:
            builder.stack(begun, share * wait_us, LOOP, FETCH, *frames)
            begun += share * wait_us
        builder.stack(at + wait_us, 100_000 - wait_us, LOOP)
    return builder


def line(builder: TraceBuilder) -> WaitLine | None:
    return Results(builder.build()).get(WaitLines).line


def test_a_line_with_its_call() -> None:
    found = line(waiting((0.9, (ITEM, LOAD)), (0.1, ())))
    assert found == WaitLine(CELL_FILE, True, None, 6, pytest.approx(0.9), "numpy.lib.npyio.load", 1.0, True)  # type: ignore[arg-type]


def test_a_call_that_only_computes() -> None:
    found = line(waiting((0.6, (ITEM, RESIZE)), (0.3, (ITEM,)), (0.1, ())))
    assert found is not None and (found.call, found.reads) == ("PIL.Image.resize", False)
    assert found.share == pytest.approx(0.9) and found.call_share == pytest.approx(2 / 3)


def test_the_innermost_line_that_still_holds_most() -> None:
    found = line(waiting((0.8, (ITEM, AUGMENT, RESIZE)), (0.2, (ITEM, LOAD))))
    assert found is not None and (found.line, found.call) == (2, "PIL.Image.resize")


def test_where_the_lines_inside_share_it_the_caller_is_named() -> None:
    others = tuple((0.25, (ITEM, (CELL_FILE, "augment", each), RESIZE)) for each in (1, 2, 3))
    found = line(waiting(*others, (0.25, (ITEM, LOAD))))
    assert found is not None and (found.line, found.call) == (6, "augment")
    assert found.call_share == pytest.approx(0.75) and not found.reads and found.inner_line is None


def test_a_line_inside_with_most_of_its_time() -> None:
    """45 of the 75 % of line 6."""
    inside = (0.45, (ITEM, AUGMENT, RESIZE)), (0.3, (ITEM, (CELL_FILE, "augment", 3), RESIZE))
    found = line(waiting(*inside, (0.25, ())))
    assert found is not None and (found.line, found.call) == (6, "augment")
    assert found.inner_line == 2 and found.inner_share == pytest.approx(0.45)


def test_compiled_code_is_named_by_the_text() -> None:
    found = line(waiting((0.9, (ITEM,)), (0.1, ())))
    assert found is not None and (found.call, found.reads) == ("zlib.decompress", True)


@pytest.mark.parametrize(("share", "known"), [(0.51, True), (0.49, False)])
def test_half_of_the_wait(share: float, known: bool) -> None:
    assert (line(waiting((share, (ITEM, LOAD)), (1 - share, ()))) is not None) is known


def test_batches_of_workers_are_not_made_here() -> None:
    assert line(waiting((1.0, (ITEM, LOAD)), workers=2)) is None


def test_a_few_looks_say_nothing() -> None:
    """100 per second: ten waits of 19 ms are 19 looks."""
    assert line(waiting((1.0, (ITEM, LOAD)), wait_us=19_000)) is None
    assert line(waiting((1.0, (ITEM, LOAD)), wait_us=20_000)) is not None


def test_only_the_waits_for_the_loader_that_stalls_count() -> None:
    """GIVEN noted waits of 20 ms, in which another line ran."""
    starts, lasted = tuple(range(0, 10**9, 10**8)), (20_000_000,) * 10
    found = line(waiting((0.4, (AUGMENT,)), (0.6, (ITEM, LOAD)), wait_start_ns=starts, wait_ns=lasted))
    assert found is not None and found.line == 2 and found.share == pytest.approx(1.0)


def test_the_users_code_outside_of_the_loader_is_not_in_the_wait() -> None:
    found = Results(waiting((1.0, ())).build()).get(WaitLines)
    assert found.line is None and found.seen_ns == 500_000_000


def test_without_stacks() -> None:
    builder = TraceBuilder().context(loaders=(Loader(workers=0),)).step(0, 1000).data_wait(0, 500)
    assert Results(builder.operator("aten::mm", 500, 10).build()).get(WaitLines) == WaitLines(None, 0)


def test_of_what_has_no_frame_the_text_says_whether_it_reads() -> None:
    """Of several calls of the line, functions and methods, one that reads is enough."""
    frames = ((0.9, (ITEM,)), (0.1, ()))
    for text, reads in (
        ("decoded(self.file.read(64))", True),
        ("decoded(open(self.path))", True),
        ("decoded(self.blobs[i])", False),
        ("self.codec.decoded(self.blobs[i])", False),
    ):
        builder = waiting(*frames)
        builder.context(cell=Cell(source=SOURCE.replace("zlib.decompress(self.blobs[i])", text), filename=CELL_FILE))
        found = line(builder)
        assert found is not None and (found.line, found.reads) == (6, reads), text
