"""One labelled pair at one size: what gpuprof says of every variant, or what the cure really gives.

Arguments: `record` or `measure`, the pair, the size. benchmarks.proving does the work, in processes of its own; here
its results are kept in its own form, to be scored with the others.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.gpu_check.check import AbsentError, Check
from benchmarks.gpu_check.trim import trim
from gpuprof.errors import GpuprofError
from gpuprof.model.recording import is_recording

# a pair has up to five variants at up to three sizes, and all have to fit
_MOST_BYTES = 100_000
_KEPT = ("bad", "good")


def run(check: Check) -> None:
    what, name, size = check.arguments
    try:
        from benchmarks.proving.collect import SCHEMA, label_of
        from benchmarks.proving.pair import PairError, named_pairs
    except ImportError as error:
        raise AbsentError(f"benchmarks/proving is not whole: {error}") from error
    try:
        (pair,) = named_pairs((name,))
    except PairError as error:
        raise AbsentError(str(error)) from error
    check.note(schema=SCHEMA, pair=name, size=size, device=check.device, label=label_of(pair))
    (_record if what == "record" else _measure)(check, pair, size)


def _record(check: Check, pair: Any, size: str) -> None:
    from benchmarks.proving.record import record_pair

    with TemporaryDirectory() as folder:
        runs = Path(folder)
        variants = record_pair(pair, size, check.device, runs, timeout_s=max(20.0, check.left_s / 2))
        _keep(check, runs)
    for found in variants.values():
        found.pop("run", None)
    check.note(variants=variants)
    failed = {name: found["error"] for name, found in variants.items() if "error" in found}
    check.expect("every variant is recorded", not failed)
    for name, found in variants.items():
        fired = [] if "error" in found else [each["rule"] for each in found["report"]["findings"]]
        check.say(f"{pair.name} {size} {name}: {failed.get(name) or ', '.join(fired) or 'no finding'}")


def _measure(check: Check, pair: Any, size: str) -> None:
    from benchmarks.proving.measure import measure_memory, measure_pair

    measured = measure_pair(pair, size, check.device, budget_s=max(5.0, min(25.0, check.left_s / 4)))
    check.note(measured=measured)
    check.say(f"{pair.name} {size}: {measured.get('error') or measured.get('text') or measured.get('ratio')}")
    if pair.gain == "memory":
        check.note(memory=measure_memory(pair, size, check.device))
    check.expect("the cure is measured", "error" not in measured)


def _keep(check: Check, runs: Path) -> None:
    """The recordings of the bad and the good variant, trimmed."""
    for manifest in sorted(runs.rglob("recording.json")):
        folder = manifest.parent
        variant = next((part.rpartition(".")[2] for part in folder.parts if part.startswith(check.arguments[1])), "")
        if not is_recording(folder) or variant not in _KEPT:
            continue
        target = check.folder / variant
        try:
            trim(folder, target, most_bytes=_MOST_BYTES)
        except (GpuprofError, ValueError, OSError) as error:
            shutil.rmtree(target, ignore_errors=True)
            check.note(**{f"not_kept_{variant}": f"{type(error).__name__}: {error}"})
