"""Records and measures pairs, one JSON file a pair and size; what is there is not done again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.proving.fresh import write_json
from benchmarks.proving.gains import gain_of
from benchmarks.proving.measure import BUDGET_S, measure_memory, measure_pair
from benchmarks.proving.pair import Pair
from benchmarks.proving.record import record_pair

SCHEMA = 1


def collect(
    pairs: Iterable[Pair],
    sizes: Sequence[str],
    device: str,
    folder: Path,
    *,
    again: bool = False,
    record_again: bool = False,
    budget_s: float = BUDGET_S,
    say: Callable[[str], None] = print,
) -> None:
    """One result each pair and size below `folder`; `again` does them anew, `record_again` keeps what was measured."""
    for pair in pairs:
        for size in sizes or pair.sizes_on(device):
            path = folder / f"{pair.name}.{size}.{device}.json"
            if path.exists() and not again and not record_again:
                continue
            say(f"{pair.name}, {size}, {device}")
            if path.exists() and not again:
                known = json.loads(path.read_text(encoding="utf-8"))
                anew = {"label": label_of(pair), "variants": record_pair(pair, size, device, folder / "runs")}
                write_json(path, {**known, **anew})
            else:
                write_json(path, result_of(pair, size, device, folder / "runs", budget_s=budget_s))


def measure_open(pairs: Iterable[Pair], folder: Path, *, budget_s: float, say: Callable[[str], None] = print) -> None:
    """Measure the cures anew that have been measured without coming to an interval, or that could not be."""
    known = {pair.name: pair for pair in pairs}
    for result in results_in(folder):
        pair, size, device = known.get(result["pair"]), result["size"], result["device"]
        if pair is None or pair.gain == "memory" or size not in pair.scored_at(device) or gain_of(result) is not None:
            continue
        say(f"{pair.name}, {size}, {device}: measured again")
        again = measure_pair(pair, size, device, budget_s=budget_s)
        write_json(folder / f"{pair.name}.{size}.{device}.json", {**result, "measured": again})


def result_of(pair: Pair, size: str, device: str, runs: Path, *, budget_s: float = BUDGET_S) -> dict[str, Any]:
    """What the rules say of every variant, and what the cure gives where its gain can show on this device.

    `measured` and `memory` are None where they are not yet measured.
    """
    recorded = record_pair(pair, size, device, runs)
    measurable = size in pair.scored_at(device)
    return {
        "schema": SCHEMA,
        "pair": pair.name,
        "size": size,
        "device": device,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "label": label_of(pair),
        "variants": recorded,
        "measured": measure_pair(pair, size, device, budget_s=budget_s) if measurable else None,
        "memory": measure_memory(pair, size, device) if measurable and pair.gain == "memory" else None,
    }


def label_of(pair: Pair) -> dict[str, Any]:
    """What is known of the pair beforehand, kept with the result."""
    return {
        "number": pair.number,
        "family": pair.family,
        "rules": list(pair.rules),
        "guard": pair.guard,
        "gain": pair.gain,
        "shows_on": pair.shows_on,
        "published": pair.published,
        "first_sight": asdict(pair.first_sight) if pair.first_sight else None,
        "besides": {size: list(rules) for size, rules in pair.besides.items()},
        "variants": {
            name: {
                "rules": list(variant.rules),
                "lines": [[label.line, label.rule] for label in variant.labels],
                "why": variant.why,
            }
            for name, variant in pair.variants.items()
        },
    }


def results_in(folder: Path) -> list[dict[str, Any]]:
    """Every result below this folder, by number and size."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.*.*.json"))]
    return sorted(found, key=lambda result: (result["label"]["number"], result["pair"], result["size"]))
