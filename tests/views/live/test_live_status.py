"""What the status bar says of a running capture."""

from __future__ import annotations

import json

from gpuprof.capture.session.captured import Live
from gpuprof.model.readings import DeviceFacts, DeviceReading
from gpuprof.views.live.live_status import CURVE_S, live_status

GIB = 1024**3
S = 1_000_000_000


def sample(at_s: float, **read: float) -> DeviceReading:
    return DeviceReading(device=0, time_ns=round(at_s * S), monotonic_ns=round(at_s * S), call_ns=0, **read)


def test_a_device_is_shown_against_its_limits():
    # GIVEN readings of a device of 16 GiB and 300 W
    now = sample(
        100, utilisation_percent=83, memory_used_bytes=12 * GIB, power_mw=150_000, temperature_c=64, clock_reasons=0x4
    )
    facts = DeviceFacts(name="A GPU", memory_bytes=16 * GIB, power_limit_mw=300_000)
    (device,) = live_status(Live(state="sampling", devices=(now,), readings=(now,), facts=(facts,)))["devices"]
    # THEN each gauge has its words and its share, and the reason of the clocks is named
    assert device["name"] == "A GPU"
    assert [(gauge["label"], gauge["text"], gauge["share"]) for gauge in device["gauges"]] == [
        ("utilisation", "83 %", 0.83),
        ("memory", "12.0 GiB of 16.0 GiB", 0.75),
        ("power", "150 W of 300 W", 0.5),
        ("temperature", "64 °C", None),
    ]
    assert device["warning"] == "clocks held down: power cap"


def test_what_was_not_read_is_not_shown():
    now = sample(1)
    (device,) = live_status(Live(devices=(now,), readings=(now,), facts=(DeviceFacts(),)))["devices"]
    assert device["gauges"] == [] and device["warning"] == ""
    assert device["curve"] == {"ago_s": [0.0], "utilisation": [None], "memory": [None]}


def test_samples_keep_their_own_time():
    # GIVEN readings with a hole of ten seconds, and one from long ago
    times = (0, 100, 100.1, 110.2)
    samples = tuple(sample(at, utilisation_percent=50) for at in times)
    (device,) = live_status(Live(devices=samples[-1:], readings=samples, facts=(DeviceFacts(),)))["devices"]
    assert device["curve"]["ago_s"] == [10.2, 10.1, 0.0]
    assert max(device["curve"]["ago_s"]) <= CURVE_S


def test_steps_and_progress():
    running = Live(state="recording", steps=5, steps_wanted=22, steps_a_second=8.1234, batch=6, batches=40)
    said = live_status(running)
    assert said["doing"] == "recording, step 6 of 22"
    assert said["steps"] == "5 steps · 8.12 a second · batch 6 of 40"
    assert said["progress"] == 6 / 40
    assert live_status(Live(state="recording", steps=30, steps_wanted=22))["doing"] == "recording"
    slow = live_status(Live(state="sampling", steps=1, steps_a_second=0.25))
    assert slow["steps"] == "1 step · 4 s a step" and slow["progress"] is None
    json.dumps([said, slow])
