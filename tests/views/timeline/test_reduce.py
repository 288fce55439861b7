"""A Timeline that is too large keeps its longest events and says so."""

import numpy as np

from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.reduce import NOT_KEPT, reduced, with_fewer_texts
from tests.support.reports import device_report
from tests.support.trace_builder import TraceBuilder


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


def test_the_rarest_texts_go_first_and_are_said_to_be_left_out():
    builder = TraceBuilder()
    for number in range(12):
        size = 7 if number < 8 else 1_000 + number
        builder.operator("aten::mm", 100 * number, 50, dims=f"[[{size}, 64]]")
    timeline = build(builder.build())
    inputs = lambda made: [  # noqa: E731
        made.names[i] for s in made.series() for d in s.details if d.label == "inputs" for i in d.values
    ]
    assert with_fewer_texts(timeline, 1_000) is timeline
    fewer = with_fewer_texts(timeline, 20)
    assert inputs(fewer) == ["7×64"] * 8 + ["1008×64", "1009×64"] + [NOT_KEPT] * 2
    assert {fewer.names[i] for s in fewer.series() for i in s.name} == {"aten::mm"}
    assert len(set(fewer.names)) == len(fewer.names)


def test_details_follow_their_events_when_the_rest_goes():
    builder = TraceBuilder()
    for number in range(10):
        builder.operator("aten::mm", 100 * number, 10 + number, dims=f"[[{number + 1}, 64]]")
    small = reduced(build(builder.build()), 3)
    (series,) = small.series()
    assert [small.names[i] for i in series.details[0].values] == ["8×64", "9×64", "10×64"]
