"""Lines that work on all of an array of which only a part is taken afterwards."""

from __future__ import annotations

from collections.abc import Mapping

from gpuprof.analyses.accounts.host_work import WorkLine
from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.cell.cropped_work import CroppedWork, cropped_work
from gpuprof.rules.host.operations import Family, Operation

# of less the part is most of it
_LEAST_FACTOR = 2
_ARRAYS = ("numpy.ndarray", "torch.Tensor")


def cropped_operation(line: WorkLine, source: str, seen: Operands | None) -> Operation | None:
    """What the line is a part of, where the array is known to be twice as large as the part, or more."""
    for each in cropped_work(source):
        if line.line not in each.lines:
            continue
        around = {one.name: one for one in operands_at(seen, line.file, each.first) if one.kind in _ARRAYS}
        whole = _whole(each, around)
        factor = None if whole is None else _factor(each, whole, around)
        if whole is not None and factor is not None and factor >= _LEAST_FACTOR:
            return Operation(
                Family.EXCESS,
                each.call,
                whole,
                turns=factor,
                title=f"`{each.call}` works on all of `{whole.name}`, of which a part is taken afterwards",
                advice=f"Take the part first, and compute on that alone: `{whole.name}[{each.part}]`, and the same "
                f"part of what is as large. Line {each.first} takes it afterwards. What is computed for each element "
                "by itself gives the same.",
            )
    return None


def _whole(work: CroppedWork, around: Mapping[str, Operand]) -> Operand | None:
    """The largest of the arrays that it starts with."""
    given = [around[name] for name in work.sources if name in around]
    return max(given, key=lambda each: each.most_elements or 0, default=None)


def _factor(work: CroppedWork, whole: Operand, around: Mapping[str, Operand]) -> int | None:
    """How many times as large it is, by the sizes of both, else along the first axis alone; None where not known."""
    kept = around.get(work.kept)
    anew = work.kept in work.sources  # the name also stands for the part: its sizes are of both
    if kept is not None and not anew and whole.fewest_elements:
        # before the part was taken it may have stood for all of it
        part = kept.fewest_elements if work.kept == work.name else kept.most_elements
        if part and whole.fewest_elements >= _LEAST_FACTOR * part:
            return whole.fewest_elements // part
    length = whole.most if anew else whole.least
    return length // work.width if length and work.width else None
