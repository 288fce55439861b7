"""Data are made wider on the host, and the wide form is copied to the device.

What it finds
    Conversions on the host, such as bytes of an image to float32, whose results add up to exactly the bytes of a copy
    to the device in the same step; where the bytes saved would show in the step. It needs the types of inputs, and
    sees only what the main process does: conversions inside a DataLoader's workers are not recorded.

Why it costs
    A float takes four times the bytes of the uint8 that it came from: on the link, in pinned memory, and between
    worker processes.

What to do
    Copy the narrow form and convert on the device: `batch.to(device, non_blocking=True).float().div_(255)`. For
    images leave `ToTensor` out of the dataset's transform (`v2.ToImage` keeps uint8) and normalise on the device.

When to leave it
    When the transforms need floats on the host.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.widened_copies import WidenedCopies
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.scope import Scope, graded, worst

_WORDS = {"unsigned char": "uint8", "signed char": "int8", "float": "float32", "double": "float64", "long int": "int64"}


@dataclass(frozen=True)
class WidenedBeforeCopy(Rule):
    """See the module."""

    guard = Guard.EXACT

    saved_share: float = threshold(0.03, "of the step in copying what need not be copied, with no compute")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    steps_share: float = threshold(0.8, "of the steps: an equal number of bytes in one alone may be chance")
    narrower: float = threshold(0.75, "bytes saved of those copied, at most: from uint8 to float32")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the copies of converted data."""
        device, scope = results.get(DeviceActivity).primary, Scope.of(results)
        if device is None:
            return without_device(self.name, results, "the copies to the device")
        widened, copies = results.get(WidenedCopies), results.get(Copies).table
        if not widened.shapes:
            mine = (copies["direction"] == CopyKind.H2D) & scope.inside(copies["start_ns"])
            exposed = int(copies["exposed_ns"][mine].sum())
            if scope.share(exposed * self.narrower) < self.saved_share:
                return None
            return Abstention(
                self.name,
                "the types of the operators’ inputs",
                "Record the shapes of inputs (`%%gpuprofile --shapes`).",
            )
        rows = widened.copies
        saved = float((copies["exposed_ns"][rows] * (1 - widened.narrower)).sum())
        share = scope.share(saved)
        steps_with = len(np.unique(copies["step"][rows]))
        if not len(rows) or steps_with < self.steps_share * scope.steps or share < self.saved_share:
            return None
        total, spent = int(copies["bytes"][rows].sum()), int(copies["duration_ns"][rows].sum())
        old, new = (_WORDS.get(name, name) for name in (widened.from_type, widened.to_type))
        fewer = int((copies["bytes"][rows] * widened.narrower).sum())
        starts = copies["start_ns"][rows]
        lines = results.get(LinePlaces).cell_lines(widened.conversions)
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Data are copied as {new} that were {old}, for {units.percent(share)} of {scope.words} too much",
            explanation=(
                f"In {steps_with} of {units.plural(scope.steps, 'step')} the host turned {old} into {new} and copied "
                f"the result: {units.size(total)}, where {units.size(fewer)} would do. The copies took "
                f"{units.duration(spent)}; {units.duration(saved)} without compute would be saved."
            ),
            evidence={
                "copies": len(rows),
                "bytes": total,
                "bytes_needed": fewer,
                "copy_ms": units.milliseconds(spent),
                "saved_ms": units.milliseconds(saved),
                "saved_share": round(share, 4),
            },
            where=Where(
                lines=lines,
                ranges_ns=worst(intervals.union(Intervals(starts, starts + copies["duration_ns"][rows]))),
            ),
            diff=_diff(results, new, lines),
            change=f"Copy the {old} and convert on the device: `batch.to(device, non_blocking=True).to(torch.{new})`, "
            "and scale or normalise there.",
            saving=scope.saving(saved * 0.5, saved, saved, "upper bound: copies shorter in proportion to their bytes"),
        )


def _diff(results: Results, to: str, lines: tuple[int, ...]) -> str | None:
    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.host_work import widen_on_device

        return widen_on_device(source, to, lines)

    return cell_diff(results, edit)
