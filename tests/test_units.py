from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof import units


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (840, "840 ns"),
        (1_000, "1.00 µs"),
        (12_500, "12.5 µs"),
        (999_600, "1.00 ms"),
        (1_210_000_000, "1.21 s"),
        (119_000_000_000, "119 s"),
        (200_000_000_000, "3 min 20 s"),
        (179_600_000_000, "3 min 0 s"),
        (-12_500, "-12.5 µs"),
        (None, "unknown"),
        (math.nan, "unknown"),
    ],
)
def test_duration(ns: float | None, text: str) -> None:
    assert units.duration(ns) == text


@pytest.mark.parametrize(
    ("joules", "text"),
    [
        (0.84, "840 mJ"),
        (0.9996, "1.00 J"),
        (12.5, "12.5 J"),
        (1_210, "1.21 kJ"),
        (0, "0 mJ"),
        (None, "unknown"),
        (math.nan, "unknown"),
    ],
)
def test_energy(joules: float | None, text: str) -> None:
    assert units.energy(joules) == text


@given(st.integers(1, 119_000_000_000))
def test_a_duration_keeps_its_value_and_three_digits(ns: int) -> None:
    number, unit = units.duration(ns).split(" ")
    scale = {"ns": 1, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}[unit]
    assert float(number) < 1_000
    assert float(number) * scale == pytest.approx(ns, rel=0.006)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (3_250_586, "3.10 MiB"),
        (15_784_004_813, "14.7 GiB"),
        (-2048, "-2.00 KiB"),
        (5000 * 2**40, "5,000 TiB"),
        (None, "unknown"),
        (math.nan, "unknown"),
    ],
)
def test_size(count: float | None, text: str) -> None:
    assert units.size(count) == text


@pytest.mark.parametrize(
    ("bytes_per_s", "text"),
    [
        (12.3e9, "12.3 GB/s"),
        (999.6e6, "1.00 GB/s"),
        (4.5e6, "4.50 MB/s"),
        (2e3, "2.00 kB/s"),
        (12.0, "12 B/s"),
        (None, "unknown"),
        (math.nan, "unknown"),
    ],
)
def test_rate(bytes_per_s: float | None, text: str) -> None:
    assert units.rate(bytes_per_s) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 FLOP"), (840, "840 FLOP"), (1.37e11, "137 GFLOP"), (9.996e14, "1.00 PFLOP"), (None, "unknown")],
)
def test_operations(count: float | None, text: str) -> None:
    assert units.operations(count) == text
    assert units.operation_rate(count) == (text if count is None else f"{text}/s")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.0004, "< 0.1 %"),
        (0.032, "3.2 %"),
        (0.0999, "10 %"),
        (0.44, "44 %"),
        (0.998, "99.8 %"),
        (0.99999, "99.9 %"),
        (1.0, "100 %"),
        (1.5, "150 %"),
        (None, "unknown"),
        (math.nan, "unknown"),
    ],
)
def test_percent(share: float | None, text: str) -> None:
    assert units.percent(share) == text


@given(st.floats(1e-9, 1, exclude_max=True))
def test_a_part_is_never_shown_as_nothing_or_all(share: float) -> None:
    text = units.percent(share)
    assert text not in ("0 %", "100 %", "0.0 %", "100.0 %")
    assert re.fullmatch(r"(< )?\d+(\.\d)? %", text)


def test_counts_factors_plurals() -> None:
    assert units.count(8772) == "8,772"
    assert units.factor(1.309) == "1.31×"
    assert units.factor(12.34) == "12.3×"
    assert units.plural(1, "step") == "1 step"
    assert units.plural(1200, "step") == "1,200 steps"
    assert units.plural(3, "copy", "copies") == "3 copies"
    assert units.milliseconds(1_234_567) == 1.234567


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("wait_ms_per_step", 58.0, ("wait per step", "58.0 ms")),
        ("launch_overhead_us", 5.5, ("launch overhead", "5.50 µs")),
        ("peak_allocated_bytes", 3 << 30, ("peak allocated", "3.00 GiB")),
        ("growth_per_step_bytes", 2048, ("growth per step", "2.00 KiB")),
        ("bandwidth_gb_per_s", 3.81, ("bandwidth", "3.81 GB/s")),
        ("wait_share", 0.234, ("wait share", "23 %")),
        ("highest_share_of_device", 0.75, ("highest share of device", "75 %")),
        ("cpu_percent", 99.0, ("cpu", "99 %")),
        ("energy_j_per_step", 10.0, ("energy per step", "10.0 J")),
        ("power_limit_w", 250.0, ("power limit", "250 W")),
        ("flops_each", 2.002e9, ("flops each", "2.00 GFLOP")),
        ("sm_clock_held_mhz", 1200.0, ("sm clock held", "1,200 MHz")),
        ("temperature_max_c", 88.0, ("temperature max", "88 °C")),
        ("copies", 1200, ("copies", "1,200")),
        ("turns_per_loop", 64.0, ("turns per loop", "64")),
        ("worker_core_wait_per_cpu", 3.0, ("worker core wait per cpu", "3")),
        ("bytes", 2048, ("bytes", "2.00 KiB")),
        ("bytes_each", 2048, ("bytes each", "2.00 KiB")),
        ("operators", "aten::add", ("operators", "aten::add")),
    ],
)
def test_a_figure_is_written_in_the_unit_that_its_name_ends_in(name, value, expected):
    assert units.figure(name, value) == expected


def test_a_number_and_its_time_are_told_apart():
    rows = units.figures({"gaps": 22, "gaps_ns": 680 * units.NS_PER_MS, "gaps_share": 0.39})
    assert rows == (("gaps", "22"), ("gaps, total", "680 ms"), ("gaps share", "39 %"))


def test_numbers_keep_their_unit():
    assert units.unbroken("takes 7.3 % of 839 ms at 12 GB/s in 6 steps") == (
        "takes 7.3\u00a0% of 839\u00a0ms at 12\u00a0GB/s in 6 steps"
    )


@pytest.mark.parametrize(
    ("span_ns", "unit"), [(0, (1, "ns")), (1_999, (1, "ns")), (2_000, (1_000, "µs")), (5 * 10**9, (10**9, "s"))]
)
def test_an_axis_has_the_unit_of_which_it_holds_two(span_ns, unit):
    assert units.time_unit(span_ns) == unit


@pytest.mark.parametrize(("most", "unit"), [(0, (1, "B")), (1 << 20, (1 << 20, "MiB")), (3 << 40, (1 << 40, "TiB"))])
def test_a_size_axis_has_a_binary_unit(most, unit):
    assert units.byte_unit(most) == unit
