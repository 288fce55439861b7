"""The device's link: what its lanes carry, and links that only look slower."""

from __future__ import annotations

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.readings import DeviceFacts
from gpuprof.rules.device.pcie_link_degraded import _LANE
from gpuprof.rules.registry import rule
from tests.support.trace_builder import TraceBuilder

# the PCI Express base specifications: transfers per second of a lane in 10⁹, and of how many bits how many are data
_SPECIFIED = {1: (2.5, 8, 10), 2: (5, 8, 10), 3: (8, 128, 130), 4: (16, 128, 130), 5: (32, 128, 130), 6: (64, 242, 256)}


def found(now: tuple[int, int], most: tuple[int, int]) -> object:
    """Generation and lanes."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).copy("h2d", at, 100, bytes=20_000, host_memory="pinned", launch_at_us=at)
        builder.kernel("gemm", at + 100, 900, launch_at_us=at + 10)
    for tick in range(5):
        builder.sample(100 * tick, utilisation_percent=90, pcie_generation=now[0], pcie_width=now[1])
    facts = DeviceFacts(name="Test GPU", pcie_max_generation=most[0], pcie_max_width=most[1])
    trace = builder.context(sampling={"static": [msgspec.to_builtins(facts)]}).build()
    return rule("pcie_link_degraded").check(Results(trace))


def test_a_lane_carries_what_the_specification_says() -> None:
    assert set(_LANE) == set(_SPECIFIED)
    for generation, (transfers, data, of) in _SPECIFIED.items():
        assert _LANE[generation] == pytest.approx(transfers * data / of / 8 * 1e9, abs=1e6)


def test_an_older_generation_with_more_lanes_carries_as_much() -> None:
    """Generation 1 × 16 lanes and generation 2 × 8 are both 4 GB/s."""
    assert found((1, 16), (2, 8)) is None
    assert found((1, 8), (2, 8)) is not None
    assert found((1, 17), (2, 8)) is None
