"""A cell of 1 s with three passes, the later two of which take 50 ms to set up."""

from gpuprof.model.context import Loader, Window
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.MEDIUM,
    "Starting the DataLoader’s workers anew takes 10 % of the cell",
    {"passes": 3, "workers": 2, "restarts_ms": 100.0, "restart_share_of_cell": 0.1},
    lines=(4,),
    saving_share=0.1,
    change="persistent_workers=True",
)
MS = 1_000_000


def _run(set_up_ms: float, **settings: bool) -> Trace:
    starts = tuple(number * 300 * MS for number in range(3))
    loader = Loader(
        workers=2,
        line=4,
        iterations_started=3,
        iteration_start_ns=starts,
        iteration_set_up_ns=(round(set_up_ms * MS),) * 3,
        wait_start_ns=tuple(start + 60 * MS for start in starts),
        wait_ns=(MS,) * 3,
        **settings,
    )
    builder = TraceBuilder().operator("aten::mm", 0, 1_000_000)
    return builder.context(loaders=(loader,), window=Window(cell_start_ns=0, cell_end_ns=1000 * MS)).build()


def fires() -> Trace:
    return _run(50)


def stays_quiet() -> Trace:
    return _run(14.9)


def abstains() -> Trace:
    """A trace file with two slow first batches among quick ones."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        first = at in (0, 5000)
        builder.data_wait(at, 500 if first else 10, workers=2).operator("aten::mm", at + 600, 100 if at != 4000 else 50)
        if at == 4000:
            builder.data_wait(at + 700, 5, workers=2)
    return builder.build()
