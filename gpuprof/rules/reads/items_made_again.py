"""What the cell computes again for single items, with the time that this takes."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.statement_times import StatementTime, StatementTimes
from gpuprof.rules.base.finding import Saving
from gpuprof.rules.reads.same_items import SameItems, same_items

_AT_WORST = 0.7


@dataclass(frozen=True)
class ItemsMadeAgain:
    """`items` with the `time` of the statement; `share` of the cell that is made again, 0..1."""

    items: SameItems
    time: StatementTime
    share: float

    @property
    def title(self) -> str:
        """With the whole share of the statement."""
        return f"The same value is computed again and again: {units.percent(self.time.share)} of the cell"

    @property
    def explanation(self) -> str:
        """What it depends on, and how often the same items come."""
        items, time = self.items, self.time
        takes = f"Line {items.first} takes {units.duration(time.ns)}, {units.percent(time.share)} of the cell."
        turns = f"each of its {units.count(items.passes)} turns"
        if not items.item:
            return (
                f"{takes} `{items.value}` depends on nothing that changes in the loop at line {items.loop}, which "
                f"computes it in {turns}."
            )
        source = f"the same items of `{items.collection}`" if items.collection else f"the same `{items.item}`"
        return (
            f"{takes} `{items.value}` depends on {self._what} alone, and the loop at line {items.loop} asks for "
            f"{source} in {turns}."
        )

    @property
    def change(self) -> str:
        """To compute it once, or once for each item."""
        if not self.items.item:
            return (
                f"Compute `{self.items.value}` once before line {self.items.loop}, and use the result at line "
                f"{self.items.first}. Do not change it in place."
            )
        each = f"item of `{self.items.collection}`" if self.items.collection else f"`{self.items.item}`"
        return (
            f"Compute `{self.items.value}` once for each {each} before line {self.items.loop}, keep the "
            f"results in a list or dict, and take them from it at line {self.items.first}. Do not change in place what "
            "is kept."
        )

    @property
    def _what(self) -> str:
        items = self.items
        indexed = f"{items.collection}[{items.item}]"
        return f"`{indexed}`" if items.collection and indexed in items.value else f"`{items.item}`"

    def saving(self) -> Saving:
        """All turns but one."""
        basis = "estimate: the sampled time of this statement, in all turns of the loop but one"
        again_ns = self.share / self.time.share * self.time.ns
        return Saving(_AT_WORST * again_ns, again_ns, self.time.ns, self.share, "C", basis, of_cell=True)


def items_made_again(results: Results, least_share: float) -> ItemsMadeAgain | None:
    """Of the statement of which most is made again, of those that take such a share of the cell."""
    cell = results.context.cell
    statements = (each for each in results.get(StatementTimes).statements if each.share >= least_share)
    times = {(each.first, each.last): each for each in statements}
    found = [
        ItemsMadeAgain(each, time, time.share * (1 - 1 / each.passes))
        for each in same_items(cell.source if cell else "", frozenset(first for first, _ in times))
        if (time := times.get((each.first, each.last))) is not None
    ]
    return max(found, key=lambda each: each.share, default=None)
