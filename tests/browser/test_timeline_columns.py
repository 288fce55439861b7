"""The browser's arithmetic: what travelled is read back exactly, and busy shares are exact to the column."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.model.intervals import Intervals, covered
from gpuprof.views.timeline import encode
from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.lanes import Lane, Series, Timeline
from tests.support.reports import device_report

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("form", ["packed", "raw"])
def test_every_event_is_read_back_exactly(module_page, form):
    timeline = build(device_report().trace)
    payload, buffer = encode.packed(timeline) if form == "packed" else encode.raw(timeline)
    sent = buffer if isinstance(buffer, str) else list(buffer)
    read = module_page.evaluate(
        """async ([payload, sent]) => {
            const bytes = typeof sent === "string" ? await inflate(fromBase64(sent)) : new Uint8Array(sent).buffer;
            const data = openPayload(payload, bytes);
            const plain = (column) => column && Array.from(column);
            return data.lanes.flatMap((lane) => (lane.rows || []).flat().map((s) =>
                [s.first, plain(s.start), plain(s.duration), plain(s.name), plain(s.link), plain(s.prefix)]));
        }""",
        [payload, sent],
    )
    first = 0
    for series, (number, start, duration, name, link, prefix) in zip(timeline.series(), read, strict=True):
        assert number == first
        assert start == series.start_ns.tolist()
        assert duration == series.duration_ns.tolist()
        assert name == series.name.tolist()
        assert link == (None if series.link is None else series.link.tolist())
        assert prefix == [0, *np.cumsum(series.duration_ns).tolist()]
        first += len(series)


def test_a_second_view_of_the_same_buffer_reads_the_same(module_page):
    series = Series("kernel", np.array([2**33, 2**35]), np.array([7, 9]), np.array([0, 0]))
    payload, buffer = encode.raw(Timeline("t", 0, 0, 2**36, ("a",), (Lane("l", "l", ((series,),)),)))
    read = module_page.evaluate(
        """([payload, sent]) => {
            const bytes = new Uint8Array(sent).buffer;
            return [0, 1].map(() => Array.from(openPayload(payload, bytes).lanes[0].rows[0][0].start));
        }""",
        [payload, list(buffer)],
    )
    assert read == [[2**33, 2**35]] * 2


@pytest.mark.parametrize("seed", range(5))
def test_busy_shares_are_exact(module_page, seed):
    random = np.random.default_rng(seed)
    duration = random.integers(0, 5_000, 3_000)
    start = np.cumsum(duration + random.integers(0, 3_000, 3_000)) - duration
    t0, t1 = sorted(random.integers(-1_000, int(start[-1]) + 9_000, 2).tolist())
    width = int(random.integers(1, 900))
    shares = module_page.evaluate(
        """([start, duration, t0, t1, width]) => {
            const prefix = [0];
            for (const d of duration) prefix.push(prefix[prefix.length - 1] + d);
            const out = new Float64Array(width);
            busyShares({ start, duration, prefix }, t0, t1, width, out);
            return Array.from(out);
        }""",
        [start.tolist(), duration.tolist(), t0, t1, width],
    )
    # in units of 1/width ns, so that every edge of a column is a whole number
    edges = t0 * width + np.arange(width + 1) * (t1 - t0)
    busy = covered(Intervals(start * width, (start + duration) * width), edges[:-1], edges[1:])
    assert shares == pytest.approx((busy / (t1 - t0)).tolist(), abs=1e-9)


def test_visible_is_every_event_that_touches_the_view(module_page):
    random = np.random.default_rng(7)
    duration = random.integers(1, 50, 200)
    start = np.cumsum(duration + random.integers(0, 30, 200)) - duration
    for t0, t1 in random.integers(0, int(start[-1]), (40, 2)).tolist():
        low, high = min(t0, t1), max(t0, t1)
        series = {"start": start.tolist(), "duration": duration.tolist()}
        first, last = module_page.evaluate("([series, t0, t1]) => visible(series, t0, t1)", [series, low, high])
        expected = np.flatnonzero((start <= high) & (start + duration >= low))
        assert list(range(first, last)) == expected.tolist()


def test_matches_of_all_series_come_in_order_of_time(module_page):
    timeline = build(device_report(steps=3).trace)
    payload, buffer = encode.packed(timeline)
    times, ids = module_page.evaluate(
        """async ([payload, text]) => {
            const tl = { data: openPayload(payload, await inflate(fromBase64(text))) };
            runSearch(tl, "E");
            return [Array.from(tl.search.times), Array.from(tl.search.ids)];
        }""",
        [payload, buffer],
    )
    events = [(int(t), timeline.names[n]) for s in timeline.series() for t, n in zip(s.start_ns, s.name, strict=True)]
    expected = [(t, i) for i, (t, name) in enumerate(events) if "e" in name.lower()]
    assert times == sorted(t for t, _ in expected)
    assert sorted(ids) == [i for _, i in expected]
    assert all(events[int(i)][0] == t for i, t in zip(ids, times, strict=True))
