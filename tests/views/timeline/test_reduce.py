"""A Timeline that is too large keeps its longest events and says so."""

import numpy as np

from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.reduce import reduced
from tests.support.reports import device_report


def test_what_fits_stays_as_it_is():
    timeline = build(device_report().trace)
    assert reduced(timeline, timeline.events) is timeline


def test_the_longest_stay_and_the_note_counts_them():
    timeline = build(device_report().trace)
    small = reduced(timeline, 120, hint="Elsewhere.")
    assert small.events <= 120 + 6
    assert f"the {small.events} longest of {timeline.events} events" in small.reduced
    assert small.reduced.endswith("Elsewhere.")
    steps = [s for s in small.series() if s.kind == "step"]
    assert sum(len(s) for s in steps) == 6
    waits = [s for s in small.series() if s.kind == "input_wait"]
    assert sum(len(s) for s in waits) == 6


def test_links_still_lead_to_the_same_launch_or_nowhere():
    timeline = build(device_report().trace)
    small = reduced(timeline, 500)
    for source in (timeline, small):
        numbered = [(s.kind, int(t)) for s in source.series() for t in s.start_ns]
        copies = next(s for s in source.series() if s.kind == "copy")
        for number in copies.link[copies.link >= 0]:
            assert numbered[number][0] == "launch"
    kept = np.concatenate([s.link for s in small.series() if s.link is not None])
    assert (kept < small.events).all()


def test_long_curves_keep_their_peak_and_unused_names_go():
    timeline = build(device_report(steps=100).trace)
    small = reduced(timeline, 200)
    before, after = (next(lane for lane in t.lanes if lane.label == "GPU memory").curves[0] for t in (timeline, small))
    assert len(after.time_ns) <= 4_001 < len(before.time_ns)
    assert after.value.max() == before.value.max()
    used = {small.names[i] for s in small.series() for i in s.name}
    assert used == set(small.names) < set(timeline.names)
