"""One cell of a round that was written for a GPU: what its cure really gives, in plain runs.

Arguments: the round's folder in benchmarks/rounds, and the cell. Faulty and cured run one after the other, each in a
process of its own.
"""

from __future__ import annotations

import runpy

from benchmarks.gpu_check.check import Check
from benchmarks.gpu_check.checks.first_sight import ROUNDS
from benchmarks.rounds.plain import measure

_VARIANTS = ("FAULTY", "CURED")


def run(check: Check) -> None:
    folder, name = check.arguments
    path = ROUNDS / folder / f"{name}.py"
    if not check.on_device or not runpy.run_path(str(path)).get("FAULTY"):
        check.expect("both run through", None if not check.on_device else True)
        return
    for variant in _VARIANTS:
        found = measure(path, variant, max(5.0, check.left_s - 3))
        check.note(**{variant.lower(): found})
        check.expect(f"{variant.lower()} runs through", "error" not in found)
    check.say(f"{name}: {check.facts}")
