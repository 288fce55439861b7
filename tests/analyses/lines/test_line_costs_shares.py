"""On built cells of known costs all of the time is on the right line, however far the device lags behind."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_costs import LineCosts
from tests.support.trace_builder import TraceBuilder

Visit = tuple[int, int, int, int]
VISITS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(20, 400), st.integers(0, 3), st.integers(1, 300)), min_size=2, max_size=40
)


@given(VISITS, st.integers(0, 5000), st.integers(-3, 3))
def test_built_cells(visits: list[Visit], lag_us: int, skew_us: int) -> None:
    """Each visit is (line, µs on the host, kernels, µs of each); all is launched from 5 µs on, one a µs.

    Where the clocks differ by some µs, at most so much is lost at each edge on the host, and nothing on the device.
    """
    builder, host, device = TraceBuilder(), Counter[int](), Counter[int]()
    at = free = 0
    for line, host_us, kernels, kernel_us in visits:
        builder.line(line, at + skew_us).operator("aten::mm", at, host_us)
        host[line] += host_us
        for number in range(kernels):
            free = max(free, at + 6 + number + lag_us)
            builder.kernel("gemm", free, kernel_us, launch_at_us=at + 5 + number, launch_for_us=1)
            free += kernel_us
            device[line] += kernel_us
        at += host_us
    found = Results(builder.line(-1, at + skew_us).build()).get(LineCosts).table
    seen = {int(line): row for row, line in enumerate(found["line"])}

    assert all(found["device_ns"][seen[line]] == 1000 * spent for line, spent in device.items())
    right = sum(min(1000 * spent, int(found["host_ns"][seen[line]])) for line, spent in host.items())
    assert right >= 1000 * (at - 2 * abs(skew_us) * len(visits))
