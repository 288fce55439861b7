"""What the peak is made of."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import MemoryComposition, PeakParts
from gpuprof.model.memory import Allocator, Composition
from gpuprof.model.readings import DeviceFacts, ReadingLog
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

P, S, G = 1000, 2000, 900
KNOWN = {"parameter_bytes": P, "gradient_bytes": G, "state_bytes": S, "buffer_bytes": 100, "after_steps": 3}


def parts(trace: Trace) -> PeakParts:
    found = Results(trace).get(MemoryComposition).primary
    assert found is not None
    return found


def steps(*, device: int | None, zeroed: str, base: int = P + S + 100) -> TraceBuilder:
    """Three steps: 5,000 of activations come in forward; backward trades them for two gradients of 400 and 500.

    The peak is in backward, when 5,000 + 400 are live. `zeroed`: gradients are released by zero_grad at the beginning
    of the next step ("released"), stay ("kept"), or are released out of sight ("unseen").
    """
    builder = TraceBuilder().device(0, memory_bytes=100_000)
    builder.operator("aten::linear", 0, 3000)
    live = base + (G if zeroed == "kept" else 0)
    if device is None:  # of what was there before, the rows of the host say nothing
        builder.memory(0, 700, device=None, address=99)

    def move(at: float, size: int, address: int) -> None:
        nonlocal live
        live += size
        builder.memory(
            at, size, device=device, allocated=-1 if device is None else live, reserved=12_000, address=address
        )

    for at in (0, 1000, 2000, 3000):
        if at < 3000:
            builder.step(at, 1000)
        if zeroed != "unseen":
            builder.span("Optimizer.zero_grad#Adam.zero_grad", at + 1, 20)
        if at and zeroed != "kept":
            move(at + 5, -400, 11)
            move(at + 6, -500, 12)
        move(at + 100, 5000, 20)
        if zeroed != "kept":
            move(at + 500, 400, 11)
        move(at + 600, -5000, 20)
        if zeroed != "kept":
            move(at + 700, 500, 12)
    return builder


@pytest.mark.parametrize(("zeroed", "live"), [("released", 400), ("kept", G)])
def test_the_parts_of_a_device_add_up_to_the_peak(zeroed: str, live: int) -> None:
    builder = steps(device=0, zeroed=zeroed).context(compositions=(Composition(device="cuda:0", **KNOWN),))
    found = parts(builder.build())
    assert found.peak_bytes == P + S + 100 + 5000 + live
    assert (found.live_gradient_bytes, found.rest_low_bytes, found.rest_high_bytes) == (live, 5000, 5000)
    assert (found.unused_reserved_bytes, found.same_instant) == (12_000 - found.peak_bytes, True)
    assert found.kept_bytes == P + S + 100


@pytest.mark.parametrize(("zeroed", "live"), [("released", 400), ("kept", G)])
def test_the_host_adds_up_from_what_is_known_and_what_moves(zeroed: str, live: int) -> None:
    """GIVEN rows that count from the start of the recording, as the host's do."""
    builder = steps(device=None, zeroed=zeroed, base=0).context(compositions=(Composition(device="cpu", **KNOWN),))
    found = parts(builder.build())
    assert (found.live_gradient_bytes, found.rest_low_bytes) == (live, 5000)
    assert found.peak_bytes == P + S + 100 + 5000 + live


@pytest.mark.parametrize("other", [1, None], ids=["another device", "the host"])
def test_what_moves_elsewhere_is_left_out(other: int | None) -> None:
    """GIVEN rows of another device or the host, without addresses, some of them in `zero_grad`."""
    builder = steps(device=0, zeroed="released").context(compositions=(Composition(device="cuda:0", **KNOWN),))
    for at in (50, 1005, 2005, 3005):
        builder.memory(at, 64, device=other).memory(at + 1, -64, device=other)
    found = Results(builder.build()).get(MemoryComposition).of_device(0)
    assert found is not None
    assert (found.live_gradient_bytes, found.rest_low_bytes, found.rest_high_bytes) == (400, 5000, 5000)


def test_gradients_that_go_unseen_make_a_range() -> None:
    builder = steps(device=0, zeroed="unseen").context(compositions=(Composition(device="cuda:0", **KNOWN),))
    found = parts(builder.build())
    assert found.live_gradient_bytes is None
    assert (found.rest_low_bytes, found.rest_high_bytes) == (5400 - G, 5400)


@pytest.mark.parametrize(
    ("gradient_bytes", "zeroed", "live", "rest"),
    [
        (0, "unseen", 0, (5400, 5400)),
        (900, "released", 400, (5000, 5000)),
        # most of the gradients are not among what `zero_grad` releases
        (2000, "released", None, (5400 - 2000, 5400)),
    ],
)
def test_gradients_that_are_released(gradient_bytes: int, zeroed: str, live: int | None, rest: tuple[int, int]) -> None:
    known = Composition(device="cuda:0", **{**KNOWN, "gradient_bytes": gradient_bytes})
    found = parts(steps(device=0, zeroed=zeroed).context(compositions=(known,)).build())
    assert (found.live_gradient_bytes, found.rest_low_bytes, found.rest_high_bytes) == (live, *rest)


def test_one_step_of_the_host_shows_no_steady_state() -> None:
    builder = TraceBuilder().operator("aten::linear", 0, 1000).step(0, 1000).memory(10, 5000, device=None, address=1)
    found = parts(builder.context(compositions=(Composition(device="cpu", **KNOWN),)).build())
    assert (found.peak_bytes, found.live_gradient_bytes, found.rest_low_bytes) == (None, None, None)
    assert (found.parameter_bytes, found.state_bytes, found.buffer_bytes, found.kept_bytes) == (P, S, 100, P + S + 100)


def _statistics(peak: int, reserved: int) -> Allocator:
    return Allocator(
        device=0,
        allocated_before_bytes=0,
        allocated_after_bytes=1,
        reserved_after_bytes=1,
        peak_allocated_bytes=peak,
        peak_reserved_bytes=reserved,
        peak_in_run=True,
        retries=0,
        ooms=0,
    )


def test_a_peak_of_the_statistics_has_no_instant() -> None:
    builder = TraceBuilder().context(
        allocators=(_statistics(10_000, 11_000),), compositions=(Composition(device="cuda:0", **KNOWN),)
    )
    found = parts(builder.build())
    assert (found.rest_low_bytes, found.rest_high_bytes) == (10_000 - 3100 - G, 10_000 - 3100)
    assert (found.unused_reserved_bytes, found.same_instant) == (1000, False)


def test_a_peak_of_what_is_kept_alone_has_no_rest() -> None:
    known = Composition(device="cuda:0", **KNOWN)
    found = parts(TraceBuilder().context(allocators=(_statistics(P + S + 100, 4000),), compositions=(known,)).build())
    assert (found.rest_low_bytes, found.rest_high_bytes) == (0, 0)


def test_figures_of_another_moment_make_no_rest() -> None:
    builder = TraceBuilder().context(
        allocators=(_statistics(2000, 3000),), compositions=(Composition(device="cuda:0", **KNOWN),)
    )
    assert (parts(builder.build()).rest_low_bytes, parts(builder.build()).parameter_bytes) == (None, P)


def test_tensors_that_could_not_be_sized_make_no_rest() -> None:
    known = Composition(device="cuda:0", **KNOWN, whole=False)
    builder = steps(device=0, zeroed="released").context(compositions=(known,))
    assert parts(builder.build()).rest_low_bytes is None


def test_a_trace_knows_no_parts() -> None:
    found = parts(steps(device=0, zeroed="released").build())
    assert (found.parameter_bytes, found.kept_bytes, found.rest_low_bytes) == (None, None, None)
    assert found.peak_bytes == 8500


def test_the_driver_sees_more_than_torch() -> None:
    """GIVEN a device that torch numbers 0 and the sampler 1."""
    log = ReadingLog(static=(DeviceFacts(torch_index=3), DeviceFacts(torch_index=0)))
    builder = TraceBuilder().context(allocators=(_statistics(10_000, 11_000),), sampling=log.facts_dict())
    builder.sample(0, device=0, memory_used_bytes=99_000).sample(0, device=1, memory_used_bytes=14_000)
    assert parts(builder.build()).outside_bytes == 3000


def test_nothing_recorded_is_nothing(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(MemoryComposition).parts == ()


def test_every_trace_is_stood(any_shared_trace: Any) -> None:
    for part in Results(any_shared_trace).get(MemoryComposition).parts:
        assert part.parameter_bytes is None and part.rest_low_bytes is None
        assert part.unused_reserved_bytes is None or part.unused_reserved_bytes >= 0
