"""The sum of a selected range against the same figures worked out from the Trace."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.model import intervals
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.views.timeline import encode
from gpuprof.views.timeline.build import build
from tests.support.reports import device_report, host_report
from tests.support.trace_builder import TraceBuilder

pytestmark = pytest.mark.browser


def sum_up(page, trace, t0, t1):
    """What totals.js says of [t0, t1], ns from the trace's origin."""
    payload, buffer = encode.packed(build(trace))
    return page.evaluate(
        """async ([payload, text, t0, t1]) => {
            const data = openPayload(payload, await inflate(fromBase64(text)));
            const sum = sumUp(data, t0, t1);
            for (const device of sum.devices)
                device.idle = Object.fromEntries(device.idle.map(({ kind, ns }) => [data.kinds[kind].key, ns]));
            return sum;
        }""",
        [payload, buffer, t0, t1],
    )


def several_streams(seed: int) -> TraceBuilder:
    """Kernels that overlap on three streams of two devices, with copies between them."""
    random = np.random.default_rng(seed)
    builder = TraceBuilder()
    for at in np.sort(random.integers(0, 5_000, 120)).tolist():
        device, stream = int(random.integers(2)), 7 + int(random.integers(3))
        name = f"kernel {random.integers(9)}"
        builder.kernel(name, at, int(random.integers(1, 60)), launch_at_us=at - 5, device=device, stream=stream)
    for at in range(100, 5_000, 900):
        builder.copy("h2d", at, 40, bytes=1_000_000, host_memory="pinned", launch_at_us=at - 6)
    return builder


@pytest.mark.parametrize("seed", range(6))
def test_busy_idle_and_kernels_are_exact(module_page, seed):
    trace = several_streams(seed).build()
    results = Results(trace)
    timeline = build(trace)
    random = np.random.default_rng(seed)
    low, high = sorted(random.integers(-1_000, timeline.span_ns + 1_000, 2).tolist())
    sum_ = sum_up(module_page, trace, low, high)
    window = intervals.intersect(
        intervals.single(timeline.origin_ns + low, timeline.origin_ns + high),
        intervals.single(trace.span_start_ns, trace.span_end_ns),
    )
    for use, shown in zip(results.get(DeviceActivity).devices, sum_["devices"], strict=True):
        assert shown["id"] == use.id
        assert shown["busy"] == intervals.intersect(use.busy, window).total_ns
        assert shown["recorded"] == window.total_ns
        assert shown["whole"] == (window.total_ns == high - low)
    causes = results.get(DeviceIdle).parts
    expected = {cause: intervals.intersect(part, window).total_ns for cause, part in causes.items()}
    assert sum_["devices"][0]["idle"] == {cause: ns for cause, ns in expected.items() if ns}
    events = trace.device_events.take(trace.device_events["kind"] == DeviceEventKind.KERNEL)
    begin = np.maximum(events["start_ns"], timeline.origin_ns + low)
    end = np.minimum(events["start_ns"] + events["duration_ns"], timeline.origin_ns + high)
    for shown in sum_["kernels"]:
        mine = (trace.names_of(events) == shown["name"]) & (end > begin)
        assert shown["count"] == mine.sum()
        assert shown["ns"] == (end - begin)[mine].sum()
    assert sum(shown["count"] for shown in sum_["kernels"]) == (end > begin).sum()


def test_copies_that_touch_the_range_are_counted_whole(module_page):
    trace = (
        TraceBuilder()
        .copy("h2d", 0, 100, bytes=2_000_000, host_memory="pinned")
        .copy("h2d", 150, 100, bytes=1_000_000, host_memory="pinned")
        .copy("d2h", 300, 50, bytes=-1, host_memory="pageable")
        .kernel("after", 400, 10)
        .build()
    )
    copies = sum_up(module_page, trace, 50_000, 320_000)["copies"]
    assert [(c["label"], c["count"], c["bytes"], c["ns"], c["known"]) for c in copies] == [
        ("host to device, pinned", 2, 3_000_000, 200_000, 2),
        ("device to host, pageable", 1, 0, 50_000, 0),
    ]


def test_without_a_device_operators_count_with_time_of_their_own(module_page):
    trace = TraceBuilder().operator("outer", 0, 100).operator("inner", 20, 30).data_wait(200, 40).build()
    sum_ = sum_up(module_page, trace, 0, 300_000)
    assert sum_["devices"] == []
    assert [(o["name"], o["ns"], o["count"]) for o in sum_["operators"]] == [("outer", 70_000, 1), ("inner", 30_000, 1)]
    assert sum_["waits"] == [{"key": "input_wait", "ns": 40_000}]


@pytest.mark.parametrize("make", [device_report, host_report])
def test_an_empty_range_sums_up_to_nothing(module_page, make):
    sum_ = sum_up(module_page, make().trace, 5_000, 5_000)
    assert sum_["kernels"] == sum_["copies"] == sum_["waits"] == []
    assert all(device["busy"] == 0 for device in sum_["devices"])


def test_numbers_read_as_python_writes_them(module_page):
    random = np.random.default_rng(3)
    numbers = [0.0, 999.6, 999_600.0, 1_023.6, 99.96, *(10 ** random.uniform(0, 13, 300)).tolist()]
    shares = [0.0, 0.0004, 0.0996, 0.994, 0.9996, 1.0, *random.uniform(0, 1, 200).tolist()]
    shown = module_page.evaluate(
        """([numbers, shares]) => [numbers.map(durationText), numbers.map(bytesText),
                                   numbers.map((n) => rateText(n, 1e9)), shares.map(percentText)]""",
        [numbers, shares],
    )
    assert shown[0] == [units.duration(n) for n in numbers]
    assert shown[1] == [units.size(n) for n in numbers]
    assert shown[2] == [units.rate(n) for n in numbers]
    assert shown[3] == [units.percent(n) for n in shares]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("void at::native::add<float, 4>(int, std::array<char*, 3>)", "at::native::add<float, 4>"),
        ("void (anonymous namespace)::run(int)", "(anonymous namespace)::run"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("</script><img src=x onerror=alert(1)>", "</script><img src=x onerror=alert(1)>"),
    ],
)
def test_a_kernel_is_named_without_its_arguments(module_page, name, short):
    assert module_page.evaluate("(name) => shortName(name)", name) == short
