"""Conversions there and back."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.conversion_trips import ConversionTrips
from tests.support.look_builder import LookBuilder


def there_and_back(home: dict[str, Any], through: dict[str, Any], **facts: Any) -> ConversionTrips:
    """10 µs each, of 100 µs."""
    look = LookBuilder().tensor("x", **home)
    look.operator("aten::_to_copy", 10, reads="x", makes="y", line=1, **through)
    look.operator("aten::_to_copy", 10, reads="y", makes="z", line=2, **home, **facts)
    return Results(look.operator("aten::mm", 80, reads="z", makes="w").build()).get(ConversionTrips)


def test_a_wider_type_and_back() -> None:
    (trip,) = there_and_back({}, {"dtype": "float64"}).trips
    assert (trip.home, trip.through, trip.out, trip.back, trip.count) == ("float32", "float64", 0, 1, 1)
    assert trip.share == pytest.approx(0.2) and trip.needless_ns == 20_000 and trip.each_bytes == 4 * 4096


@pytest.mark.parametrize("through", ["float16", "bfloat16", "int8"])
def test_rounding_may_be_meant(through: str) -> None:
    assert there_and_back({}, {"dtype": through}).trips == ()


def test_another_device_and_back() -> None:
    (trip,) = there_and_back({"device": "cuda:0"}, {"device": "cpu"}).trips
    assert (trip.home, trip.through) == ("cuda:0", "cpu")


def test_what_is_brought_back_in_the_backward_pass_made_room() -> None:
    assert there_and_back({"device": "cuda:0"}, {"device": "cpu"}, backward=True).trips == ()


def test_what_is_brought_back_much_later_made_room() -> None:
    for between, trips in ((40, 1), (60, 0)):
        look = LookBuilder().tensor("x", device="cuda:0")
        look.operator("aten::_to_copy", 10, reads="x", makes="y", device="cpu")
        for _ in range(between):
            look.operator("aten::mm", 1, reads="x", makes="h")
        look.operator("aten::_to_copy", 10, reads="y", makes="z", device="cuda:0")
        assert len(Results(look.build()).get(ConversionTrips).trips) == trips


def test_the_way_out_is_needed_where_something_else_reads_its_result() -> None:
    look = LookBuilder().tensor("x")
    look.operator("aten::_to_copy", 10, reads="x", makes="y", dtype="float64")
    look.operator("aten::mm", 10, reads="y", makes="h").operator("aten::_to_copy", 5, reads="y", makes="z")
    (trip,) = Results(look.build()).get(ConversionTrips).trips
    assert trip.needless_ns == 5_000


def test_another_order_in_memory_and_back_shows_by_content() -> None:
    for content, trips in ((7, 1), (8, 0), (0, 0)):
        look = LookBuilder().tensor("x", content=7)
        look.operator("aten::clone", 10, reads="x", makes="y", view=3, content=9).view("turned", "y", view=4)
        look.operator("aten::clone", 10, reads="turned", makes="z", content=content)
        found = Results(look.build()).get(ConversionTrips).trips
        assert [(trip.home, trip.through) for trip in found] == [("float32", "float32")] * trips


def test_a_copy_is_no_trip() -> None:
    look = LookBuilder().tensor("x", content=7)
    look.operator("aten::clone", 10, reads="x", makes="y", content=7)
    look.operator("aten::clone", 10, reads="y", makes="z", content=7)
    assert Results(look.build()).get(ConversionTrips).trips == ()


def test_by_way_of_numpy() -> None:
    """What comes back is a tensor made outside of torch with the content of the one that numpy was given."""
    for content, trips in ((7, 1), (8, 0)):
        look = LookBuilder().tensor("x", device="cuda:0")
        look.operator("aten::_to_copy", 10, reads="x", makes="y", device="cpu", content=7, read_outside=True)
        look.tensor("again", content=content).operator("aten::_to_copy", 10, reads="again", makes="z", device="cuda:0")
        found = Results(look.build()).get(ConversionTrips).trips
        assert [trip.needless_ns for trip in found] == [10_000] * trips


def test_nothing_looked_at() -> None:
    found = Results(LookBuilder().build()).get(ConversionTrips)
    assert (found.trips, found.share, len(found.needless)) == ((), 0.0, 0)
