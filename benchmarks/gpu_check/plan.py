"""What is run and in which order: first what only a GPU can show and all else rests on, then breadth.

Only the standard library: the plan must stand where nothing else is installed yet.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.gpu_check.item import Item

_PAIRS = Path(__file__).resolve().parents[1] / "pairs"
_ROUNDS = Path(__file__).resolve().parents[1] / "rounds"
_SIZES = ("host_bound", "balanced", "device_bound")
_GPT2 = ("fp32", "tf32", "bf16", "compiled", "sdpa", "padded", "fused")
# the size at which a pair says most when only one can be had
_FIRST_SIZE = "balanced"
_MINI = "mini"
_EARLY = 8  # pairs before the long GPT-2 sequence, half of which compiles for a minute each
Label = tuple[str, dict[str, Any]]


def make_plan(size: str, pairs: Path = _PAIRS) -> list[Item]:
    """Every check in its order. `size` is `full`, or `small` for a rehearsal."""
    sizes = (_MINI,) if size == "small" else _SIZES
    labels = _labels(pairs)
    first = _one_a_group(labels)
    rest = [each for each in labels if each not in first]
    at_first, later = (sizes, ()) if size == "small" else ((_FIRST_SIZE,), ("host_bound", "device_bound"))
    middle, *others = sorted(sizes, key=lambda each: each != _FIRST_SIZE)
    return [
        *_device_basics(),
        *_first_sight(),
        *_of_size(middle),
        Item("marked_tests", least_s=30, limit_s=180),
        *_pairs(first[:_EARLY], at_first),
        *(Item("gpt2", (stage,), least_s=60, limit_s=240) for stage in _GPT2),
        *_pairs(first[_EARLY:], at_first),
        *(item for each in others for item in _of_size(each)),
        *_pairs(rest, at_first),
        *(item for each in later for item in _pairs([*first, *rest], (each,))),
        *(Item("repeated", (way,), limit_s=120) for way in ("no_sync_events", "events_kept", "cupti_kept")),
        Item("repeated", ("idle_between",), least_s=60, limit_s=120),
    ]


def _of_size(size: str) -> Iterator[Item]:
    yield Item("predictions", (size,), least_s=45, limit_s=120)
    yield Item("overhead", (size,), least_s=60, limit_s=150)


def _device_basics() -> Iterator[Item]:
    yield Item("machine", limit_s=60)
    yield Item("pipeline", limit_s=60)
    yield Item("capture", least_s=20, limit_s=120)
    yield Item("repeated", ("ours",), limit_s=90)
    yield Item("repeated", ("after_empty",), limit_s=90)
    yield Item("sync_lines", limit_s=60)
    yield Item("whole_cell", limit_s=90)
    yield Item("memory_parts", limit_s=60)
    yield Item("close_look", limit_s=60)
    yield Item("look_elsewhere", limit_s=60)
    yield Item("needless_work", least_s=30, limit_s=120)
    yield Item("launch_constants", least_s=20, limit_s=90)
    yield Item("copy_constants", least_s=20, limit_s=90)
    yield Item("compute_constants", least_s=20, limit_s=90)
    yield Item("memory_growth", limit_s=60)
    yield Item("memory_kept", limit_s=60)
    yield Item("broken_cells", ("out_of_memory",), limit_s=60)
    yield Item("broken_cells", ("device_assert",), limit_s=60)


def _first_sight() -> Iterator[Item]:
    """Rounds written for a GPU: folders `gpu_…`."""
    cells = sorted(_ROUNDS.glob("gpu_*/*.py"))
    yield from (Item("first_sight", (each.parent.name, each.stem), least_s=30, limit_s=90) for each in cells)
    yield from (Item("round_gains", (each.parent.name, each.stem), least_s=20, limit_s=60) for each in cells)


def _pairs(labels: list[Label], sizes: tuple[str, ...]) -> Iterator[Item]:
    """Recorded and measured; where a fault only costs on a device it is not measured at the size for a CPU."""
    for name, label in labels:
        for size in sizes:
            if size not in label.get("sizes", {}):
                continue
            yield Item("pair", ("record", name, size), least_s=30, limit_s=180)
            if size != _MINI or label.get("shows_on") == "cpu":
                yield Item("pair", ("measure", name, size), least_s=40, limit_s=150)


def _labels(folder: Path) -> list[Label]:
    """Name and label of every pair, those first whose fault only a device shows; a file that cannot be read is left."""
    found = []
    for path in sorted(folder.rglob("*.py"), key=lambda path: path.stem):
        try:
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            found.append((path.stem, tomllib.loads(text)))
        except (SyntaxError, tomllib.TOMLDecodeError) as error:
            print(f"{path.name} is left out: {error}")
    return sorted(found, key=lambda each: (each[1].get("shows_on") != "cuda", each[1].get("number", 0)))


def _one_a_group(labels: list[Label]) -> list[Label]:
    first: dict[str, Label] = {}
    for name, label in labels:
        # families that share the first word are close: host_syncs, host_syncs_masks, …
        first.setdefault(str(label.get("family", name)).partition("_")[0], (name, label))
    return list(first.values())
