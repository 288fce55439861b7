"""What is encoded is read back the same, and stays small."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.views.timeline import encode
from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.lanes import Lane, Series, Timeline
from tests.support.reports import device_report
from tests.views.timeline import decode

FORMS = {
    "raw": encode.raw,
    "packed": lambda timeline: (lambda payload, text: (payload, decode.unpack(text)))(*encode.packed(timeline)),
}


def one_series(start, duration, name, link=None) -> Timeline:
    series = Series("kernel", np.array(start, np.int64), np.array(duration, np.int64), np.array(name, np.int64))
    if link is not None:
        series = Series(series.kind, series.start_ns, series.duration_ns, series.name, link=np.array(link, np.int64))
    return Timeline("t", 0, 0, 10**12, ("a",) * 70_000, (Lane("l", "l", ((series,),)),))


@pytest.mark.parametrize("form", FORMS)
def test_every_column_of_a_run_comes_back(form):
    timeline = build(device_report().trace)
    payload, buffer = FORMS[form](timeline)
    assert json.loads(json.dumps(payload)) == json.loads(json.dumps(payload, allow_nan=False))
    found = decode.series(payload)
    for series, read in zip(timeline.series(), found, strict=True):
        assert payload["kinds"][read["kind"]]["key"] == series.kind
        assert decode.starts(buffer, read).tolist() == series.start_ns.tolist()
        assert decode.column(buffer, read["duration"]).tolist() == series.duration_ns.tolist()
        assert decode.column(buffer, read["name"]).tolist() == series.name.tolist()
        if series.link is not None:
            assert decode.column(buffer, read["link"]).tolist() == series.link.tolist()
        for detail, shown in zip(series.details, read.get("details", []), strict=True):
            assert (decode.column(buffer, shown["value"]) - shown["shift"]).tolist() == detail.values.tolist()


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_any_times_names_and_links_come_back(form, data):
    count = data.draw(st.integers(1, 30))
    numbers = st.lists(st.integers(0, 2**45), min_size=count, max_size=count)
    duration = data.draw(numbers)
    start = np.cumsum(np.add(data.draw(numbers), [0, *duration[:-1]])).tolist()
    name = data.draw(st.lists(st.integers(0, 69_999), min_size=count, max_size=count))
    link = data.draw(st.lists(st.integers(-1, 2**31 - 1), min_size=count, max_size=count))
    payload, buffer = FORMS[form](one_series(start, duration, name, link))
    (read,) = decode.series(payload)
    assert decode.starts(buffer, read).tolist() == start
    assert decode.column(buffer, read["duration"]).tolist() == duration
    assert decode.column(buffer, read["name"]).tolist() == name
    assert decode.column(buffer, read["link"]).tolist() == link


def test_raw_columns_are_aligned_for_typed_arrays():
    payload, _ = encode.raw(build(device_report().trace))
    assert all(read[key]["at"] % 8 == 0 for read in decode.series(payload) for key in ("start", "duration", "name"))


def test_a_million_events_of_a_training_run_pack_into_six_megabytes():
    random = np.random.default_rng(0)
    usual = random.integers(1_500, 40_000, 5_000)
    duration = (np.tile(usual, 200) * random.normal(1, 0.03, 1_000_000)).astype(np.int64)
    gap = random.integers(900, 3_000, 1_000_000)
    name = np.tile(random.integers(0, 200, 5_000), 200)
    _, text = encode.packed(one_series(np.cumsum(duration + gap), duration, name))
    assert len(text) < 6_000_000
    assert len(decode.unpack(text)) > 3_000_000
