"""Colours and words of every kind of time, shared by the bar, the cards, the timeline, the pictures and the text.

One colour per kind of time: a category of the time budget has the colour of the events that fill it. The twelve
hues are at least 10 CIELAB units apart for full, deuteranope, protanope and tritanope vision (computed by
tests/views/test_theme.py); a colour never stands without its label. Colours are `#rrggbb`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

INK = "#16202b"
PAPER = "#ffffff"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of time or event: key, plain label, what it means, and its colour on a light and on a dark page."""

    key: str
    label: str
    meaning: str
    light: str
    dark: str

    def ink(self, *, dark: bool = False) -> str:
        """The text colour (dark ink or white) that contrasts most with this colour."""
        return readable_ink(self.dark if dark else self.light)


def relative_luminance(colour: str) -> float:
    """Relative luminance 0..1 of ``#rrggbb`` (WCAG 2.2, "relative luminance")."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio 1..21 of two colours (WCAG 2.2, "contrast ratio")."""
    brighter, darker = sorted((relative_luminance(first), relative_luminance(second)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def readable_ink(colour: str) -> str:
    """Dark ink or white, whichever contrasts more with ``colour``."""
    return INK if contrast(colour, INK) >= contrast(colour, PAPER) else PAPER


BLUE, SKY, PALE, STEEL = "#1a6fc9", "#5aadf5", "#b3cbe6", "#7b90bd"
ORANGE, RED, MAGENTA, PURPLE = "#e39b1e", "#f0505c", "#ba3d88", "#752b90"
BROWN, UMBER, GREY, GREEN = "#7a4f1c", "#5b4f4c", "#a5adac", "#4fa873"
HUES = (BLUE, SKY, PALE, STEEL, ORANGE, RED, MAGENTA, PURPLE, BROWN, UMBER, GREY, GREEN)
# On a dark page the three darkest hues would sink into the background (contrast under 3).
LIFTED = {PURPLE: "#9a3fa6", BROWN: "#8c5d22", UMBER: "#766662"}


def _kinds(*rows: tuple[str, str, str, str]) -> Mapping[str, Kind]:
    return MappingProxyType(
        {key: Kind(key, label, meaning, hue, LIFTED.get(hue, hue)) for key, label, meaning, hue in rows}
    )


BUDGET: Mapping[str, Kind] = _kinds(
    ("compute", "compute", "a kernel runs on the device", BLUE),
    ("exposed_copy", "exposed copies", "a copy runs and no kernel hides it", ORANGE),
    ("exposed_collective", "exposed communication", "a collective runs and no other kernel hides it", PURPLE),
    ("memset", "memset", "only a memset runs on the device", BROWN),
    ("idle_input", "waiting for data", "device idle while the host waits for the next batch", MAGENTA),
    ("idle_host", "waiting for the host", "device idle because the host had launched nothing yet", UMBER),
    ("idle_sync", "sync waits", "device idle after the host waited for it to drain", RED),
    ("idle_launch", "waiting for launches", "device idle between a launch and the kernel it starts", SKY),
    ("idle_compile", "compiling", "device idle because torch.compile compiles on the host", GREEN),
    ("idle_outside_steps", "outside steps", "device idle before, between or after the steps", PALE),
    ("idle_unrecorded", "earlier work", "busy with work from before the recording, which delays what is queued", GREY),
    ("idle_unexplained", "idle, cause unknown", "device idle and nothing recorded says why", GREY),
    ("operators", "operators", "the main thread is inside a framework operator", STEEL),
    ("input_wait", "waiting for data", "the main thread is inside the DataLoader's __next__", MAGENTA),
    ("compiling", "compiling", "torch.compile compiles on the main thread", GREEN),
    ("host_other", "Python and the rest", "the main thread is inside a step, but in no operator", UMBER),
    ("outside_steps", "outside steps", "the main thread is before, between or after the steps", PALE),
)

EVENTS: Mapping[str, Kind] = MappingProxyType(
    {
        **_kinds(
            ("kernel", "kernels", "a kernel on the device", BLUE),
            ("copy", "copies", "a copy between host and device, or on the device", ORANGE),
            ("memset", "memsets", "a memset on the device", BROWN),
            ("collective", "collectives", "a communication kernel between devices", PURPLE),
            ("operator", "operators", "a framework call on the host", STEEL),
            ("launch", "launches", "a runtime or driver call that enqueues device work", SKY),
            ("sync", "sync waits", "the host is blocked on the device", RED),
            ("input_wait", "waiting for data", "the host is inside the DataLoader's __next__", MAGENTA),
            ("python", "Python frames", "a Python function on the host", GREY),
            ("memory", "memory", "bytes held by the allocator", GREEN),
            ("reading", "device readings", "readings of the device's own counters", GREEN),
            ("gap", "device idle", "no kernel, copy or memset on the device", GREY),
        ),
        "span": Kind("span", "user ranges", "a range named by the user or the framework", "#c9d3cf", "#4b5a55"),
        "call": Kind(
            "call", "other runtime calls", "a runtime or driver call that enqueues nothing", "#cdbf97", "#6b6143"
        ),
        "step": Kind("step", "steps", "one training or inference iteration", "#dfe4ea", "#2e3640"),
    }
)
