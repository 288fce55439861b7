"""Hypothesis strategy: short runs of any shape, overlapping and nonsensical ones included."""

from __future__ import annotations

from hypothesis import strategies as st

from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

_at = st.integers(0, 200)
_for = st.integers(0, 40)
_launch = st.none() | _at
_moment = st.tuples(_at, _for)


@st.composite
def runs(draw: st.DrawFn, *, with_device: bool | None = None) -> Trace:
    """A Trace with a handful of events of every kind; `with_device=False` has no device event."""
    builder = TraceBuilder().thread("main")
    if with_device is not False:
        for at, long, launch, name, device in draw(
            st.lists(
                st.tuples(_at, _for, _launch, st.sampled_from(["sgemm", "ncclKernel"]), st.sampled_from([0, 0, 1])),
                min_size=1 if with_device else 0,
                max_size=8,
            )
        ):
            builder.kernel(name, at, long, launch_at_us=launch, device=device, stream=at % 3)
        for at, long, launch, memory in draw(
            st.lists(st.tuples(_at, _for, _launch, st.sampled_from(["pageable", "pinned", "unknown"])), max_size=4)
        ):
            direction = ("h2d", "d2h", "d2d", "p2p")[at % 4]
            builder.copy(direction, at, long, bytes=at - 1, host_memory=memory, launch_at_us=launch, launch_for_us=long)
        for at, long in draw(st.lists(_moment, max_size=2)):
            builder.memset(at, long)
    for at, long in draw(st.lists(_moment, max_size=4)):
        builder.sync(at, long)
    for at, long in draw(st.lists(_moment, max_size=3)):
        builder.data_wait(at, long)
    for at, long in draw(st.lists(_moment, max_size=3)):
        builder.step(at, long)
    for at, long in draw(st.lists(_moment, max_size=2)):
        builder.optimizer_step("SGD", at, long)
    for at, long, name in draw(
        st.lists(
            st.tuples(_at, _for, st.sampled_from(["aten::mm", "autograd::engine::evaluate_function: X"])), max_size=6
        )
    ):
        builder.operator(name, at, long)
    return builder.build()
