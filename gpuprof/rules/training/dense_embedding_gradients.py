"""An embedding table is given a dense gradient, though a step uses few of its rows.

What it finds
    Tables (`nn.Embedding`, `nn.EmbeddingBag`, `F.embedding`, a parameter that is indexed) of whose rows a step uses a
    quarter at most, with gradients as large as the table. Filling them and the optimizer's work on these tables, less
    what both take with sparse gradients, comes to at least 5 % of the time. Sizes and indices are known from the close
    look, or where shapes were recorded (`%%gpuprofile --shapes`). SGD without momentum and weight decay is judged, on a
    CPU also Adagrad without weight decay, both but for `fused=True`: with them sparse gradients train the same. Under
    Adam and AdamW it is told only from 30 % of the time on, and never as more than low.

Why it costs
    Every step zeroes a gradient as large as the table, most of which stays zero, and the optimizer then reads that
    gradient and reads and writes the whole table. Only memory traffic counts there: a thousand words of a vocabulary of
    a hundred thousand cost as much as all of them. A large gradient that is freed and made anew in each step costs the
    operating system's work on fresh memory besides.

What to do
    `nn.Embedding(words, width, sparse=True)`; `F.embedding(rows, table, sparse=True)` in place of `table[rows]`. Adam
    and AdamW do not take sparse gradients: give such a table an optimizer of its own, `torch.optim.SparseAdam`, which
    trains differently.

When to leave it
    When the table is an output layer as well (tied weights), when its gradient is clipped by norm or value, or when the
    optimizer has momentum or weight decay for it: none of these works with sparse gradients. `SparseAdam` moves only
    rows that were used, has no weight decay and may change the result. DistributedDataParallel needs a backend that
    reduces sparse tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.training.embedding_gradients import DenseTables, EmbeddingGradients
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_lines import lines_calling
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.gradients import gradients_sparse
from gpuprof.whatif.predict import Range

# What an optimizer takes for a row of a sparse gradient, of what it takes for a row of a dense one, at worst, as a rule
# and at best (one thread of an AMD EPYC, torch 2.13; 5,000 × 32 to 400,000 × 128, 0.2 to 25 % of the rows): SGD 4 to 9,
# Adagrad 2 to 6, Adam and SparseAdam 2 to 4. Rows are sorted, gathered and added one by one.
_TIMES_A_ROW = (10, 3, 1.5)
# The same of filling a row, where it is looked up and put together with others of its number.
_TIMES_TO_FILL = (4, 2, 1)
# On a CPU 13 cells of rounds w to zb (docs/evidence/rounds.md) saved 0.9 to 2 times as much as is foreseen without this
# factor, 1.4 in the middle. Why was not measured: caches and the allocator are likely.
_BESIDES = (1.0, 1.25, 1.5)
# What each sparse gradient takes besides: 70 to 330 µs there; on a device it is some thirty kernels.
_FIXED_NS = (400_000, 120_000, 60_000)
_AROUND = " Measured savings were usually higher than these operators alone explain."
_BASIS = "only the rows that were used are filled and updated"
# What they run on a table with neither momentum nor weight decay.
_PLAIN_SGD = frozenset({"aten::add_", "aten::_foreach_add_"})
_DECAYING = frozenset({"aten::add", "aten::_foreach_add"})
_INDEXING = frozenset({"index", "index_select"})
_LAZY = frozenset({"Adam", "AdamW"})


@dataclass(frozen=True)
class DenseEmbeddingGradients(Rule):
    """See the module."""

    rows_share: float = threshold(0.25, "of a table's rows: with more, sparse updates take about as long as dense ones")
    saved_share: float = threshold(0.05, "of the time judged: less is hardly worth a change")
    lazy_share: float = threshold(0.30, "of the time judged, under Adam: its sparse twin trains differently")
    high_share: float = threshold(0.25, "of the time judged: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what dense gradients of large tables cost beyond sparse ones."""
        found, scope, activity = results.get(EmbeddingGradients), Scope.of(results), results.get(DeviceActivity)
        if not len(found.backwards):
            return None
        during = _ranges(results, found.backwards)
        if activity.recorded is not None and activity.primary is None:
            matters = scope.share(during.total_ns) >= self.saved_share
            return without_device(self.name, results, "the device’s time in gradients of tables") if matters else None
        compute = KernelTime.of(results)
        if compute is not None and not compute.computes:
            return None
        if not found.known:
            return self._without_sizes(results, found, compute)
        lazy = [each for each in found.tables if self._few_rows(scope, each) and _LAZY.issuperset(each.optimizers)]
        same = [each for each in found.tables if self._few_rows(scope, each) and _trains_the_same(each, compute)]
        for tables, least in ((same, self.saved_share), (lazy, self.lazy_share)):
            cost = _Cost.of(results, tables, compute)
            if tables and scope.share(cost.saved_ns()[1]) >= least:
                return self._finding(results, cost, lazy=tables is lazy)
        return None

    def _few_rows(self, scope: Scope, tables: DenseTables) -> bool:
        fused = any("_fused_" in name for name in tables.operators)
        few = tables.filled <= self.rows_share * tables.rows
        read = tables.read_whole or scope.inside(tables.reads).any()
        return few and bool(tables.optimizers) and not fused and not read

    def _without_sizes(
        self, results: Results, found: EmbeddingGradients, compute: KernelTime | None
    ) -> Abstention | None:
        """Asks only where sparse gradients could save enough, were the optimizer's part of no account."""
        scope, inside = Scope.of(results), _ranges(results, found.backwards)
        spent = (
            inside.total_ns
            if compute is None
            else compute.sum_ns(found.launched_in(results.get(KernelOrigins), found.backwards))
        )
        gradients = int(scope.inside(found.times(found.backwards).starts).sum())
        if scope.share(spent - _FIXED_NS[1] * gradients) < self.saved_share:
            return None
        return Abstention(
            self.name,
            "the sizes of embedding tables, to tell how few of their rows a step uses",
            "Record the shapes (`%%gpuprofile --shapes`, `record_shapes=True`).",
        )

    def _finding(self, results: Results, cost: _Cost, *, lazy: bool) -> Finding:
        scope, tables = cost.scope, max(cost.tables, key=lambda each: each.rows * each.width)
        saved = cost.saved_ns()
        share, spent = scope.share(saved[1]), cost.backward_ns + cost.update_ns
        names = ", ".join(dict.fromkeys(name for each in cost.tables for name in each.optimizers))
        on_device = results.get(DeviceActivity).primary is not None
        finding = Finding(
            rule=self.name,
            severity=Severity.LOW if lazy else graded(share, self.high_share),
            title=f"{_what(tables.lookups)} is given dense gradients, though a step uses "
            f"{units.percent(tables.filled / tables.rows)} of its rows at most",
            explanation=(
                f"Filling gradients of {units.count(tables.rows)} × {units.count(tables.width)} numbers took "
                f"{units.duration(cost.backward_ns)}, and {names} {units.duration(cost.update_ns)} for updating such "
                f"tables: {units.percent(scope.share(spent))} of {scope.words}.{'' if on_device else _AROUND}"
            ),
            evidence={
                "rows": tables.rows,
                "width": tables.width,
                "rows_used": round(tables.filled, 1),
                "gradients": cost.gradients,
                "backward_ms": units.milliseconds(cost.backward_ns),
                "optimizer_ms": units.milliseconds(cost.update_ns),
                "optimizer": names,
                "avoidable_share": round(share, 4),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(cost.on_host), ranges_ns=worst(cost.on_host)),
            change=_change(names, cost.tables, _made_at(results), lazy=lazy),
            saving=scope.saving(*saved, f"estimate: {_BASIS}", part_of=cost.on_host),
            leave_it="Leave it when the table is an output layer as well (tied weights), or its gradient is clipped: "
            "sparse gradients do not work there. "
            + ("Where the result must stay the same, too." if lazy else f"Neither {_neither(names)}."),
        )
        return retimed(results, finding, cost.edit(), f"simulated: {_BASIS}")


def _what(lookups: tuple[str, ...]) -> str:
    return "A parameter that is indexed" if _INDEXING.issuperset(lookups) else "An embedding table"


def _made_at(results: Results) -> str:
    """`nn.Embedding(..., sparse=True)`, with `; the cell makes tables in lines 15 and 16`."""
    lines = [str(each) for each in lines_calling(results, "Embedding", "EmbeddingBag")]
    bags = lines and not lines_calling(results, "Embedding")
    call = f"`nn.Embedding{'Bag' if bags else ''}(..., sparse=True)`"
    if not lines:
        return call
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(lines[:-1])} and {lines[-1]}"
    return f"{call}; the cell makes tables in {where}"


def _change(names: str, tables: Sequence[DenseTables], made_at: str, *, lazy: bool) -> str:
    sizes = dict.fromkeys(f"{units.count(each.rows)} × {units.count(each.width)}" for each in tables)
    made = f"Make each table of {' and of '.join(sizes)} with `sparse=True` ({made_at})"
    if all(_INDEXING.issuperset(each.lookups) for each in tables):
        made = "Look the rows up with `F.embedding(rows, table, sparse=True)` instead of by an index"
    if lazy:
        return (
            f"{made} and give it an optimizer of its own, `torch.optim.SparseAdam`: {names} does not take sparse "
            "gradients. It moves only the rows that were used, leaves the moments of the others as they are, and has "
            "no weight decay, so that training changes; compare the losses."
        )
    momentum = "" if names == "Adagrad" else "momentum, "
    return (
        f"{made}: {names} without {momentum}weight decay and `fused=True` takes sparse gradients and trains the same, "
        "except for rounding."
    )


def _neither(names: str) -> str:
    return "does weight decay" if names == "Adagrad" else "do momentum and weight decay"


def _trains_the_same(tables: DenseTables, compute: KernelTime | None) -> bool:
    """Adagrad takes sparse gradients on the CPU, by torch's documentation."""
    if tables.optimizers == ("SGD",):
        return tables.operators <= _PLAIN_SGD
    return tables.optimizers == ("Adagrad",) and compute is None and not tables.operators & _DECAYING


def _ranges(results: Results, rows: Array) -> Intervals:
    """When these operators ran in the time judged; a union."""
    whole = intervals.union(results.get(EmbeddingGradients).times(rows))
    return intervals.intersect(whole, Scope.of(results).within)


@dataclass(frozen=True, eq=False)
class _Cost:
    """What these tables cost in the time judged, in ns: of the device, where there is one.

    `gradients`: how many were filled. `rows_ns`: of `update_ns`, the part of the rows that were used. `backward_events`
    and `update_events`: rows of `device_events`, the latter of operators that may update other weights as well,
    `launched_ns` in all; empty without a device.
    """

    scope: Scope
    tables: Sequence[DenseTables]
    gradients: int
    backward_ns: int
    update_ns: int
    rows_ns: float
    on_host: Intervals
    backward_events: Array
    update_events: Array
    launched_ns: int

    @classmethod
    def of(cls, results: Results, tables: Sequence[DenseTables], compute: KernelTime | None) -> _Cost:
        """Of tables that differ in size."""
        scope, found = Scope.of(results), results.get(EmbeddingGradients)
        nothing = np.zeros(0, np.int64)
        backwards = np.concatenate([nothing, *(each.backwards for each in tables)])
        backwards = backwards[scope.inside(found.times(backwards).starts)]
        updates, owner = np.unique(np.concatenate([nothing, *(each.updates for each in tables)]), return_inverse=True)
        parts, used = np.zeros(len(updates)), np.zeros(len(updates))
        given = np.concatenate([np.zeros(0), *(each.parts for each in tables)])
        few = np.concatenate([np.zeros(0), *(each.parts * each.filled / each.rows for each in tables)])
        np.add.at(parts, owner.reshape(-1), given)
        np.add.at(used, owner.reshape(-1), few)
        inside = scope.inside(found.times(updates).starts)
        updates, parts, used = updates[inside], parts[inside], used[inside]
        whole = found.times(updates)
        filling_ns, updating_ns = found.times(backwards).total_ns, whole.ends - whole.starts
        backward_events = update_events = nothing
        if compute is not None:
            kernels = results.get(KernelOrigins)
            filling = found.launched_in(kernels, backwards)
            of_update = np.searchsorted(updates, kernels.root)
            updating = np.isin(kernels.root, updates)
            updating_ns = np.bincount(of_update[updating], kernels.duration_ns[updating], len(updates))
            filling_ns = kernels.duration_ns[filling].sum()
            backward_events, update_events = kernels.event[filling], kernels.event[updating]
        return cls(
            scope=scope,
            tables=tables,
            gradients=len(backwards),
            backward_ns=int(filling_ns),
            update_ns=int((parts * updating_ns).sum()),
            rows_ns=float((used * updating_ns).sum()),
            on_host=_ranges(results, np.concatenate([backwards, updates])),
            backward_events=backward_events,
            update_events=update_events,
            launched_ns=int(updating_ns.sum()),
        )

    def saved_ns(self) -> tuple[float, float, float]:
        """At worst, as a rule and at best."""
        besides = (1.0, 1.0, 1.0) if len(self.backward_events) else _BESIDES
        pairs = zip(self._left_ns(), besides, strict=True)
        low, central, high = (times * max(self.backward_ns + self.update_ns - sum(left), 0.0) for left, times in pairs)
        return low, central, high

    def edit(self) -> Range:
        """The kernels in what sparse gradients leave of their time."""
        shares = (self._shares(*left) for left in self._left_ns())
        edits = (
            gradients_sparse(self.backward_events, filled, self.update_events, updated) for filled, updated in shares
        )
        return Range(*edits)

    def _left_ns(self) -> list[tuple[float, float]]:
        """Of filling and of updating, for sparse gradients."""
        used = max(each.filled / each.rows for each in self.tables) if self.tables else 0.0
        filling = self.backward_ns * used
        figures = zip(_TIMES_TO_FILL, _TIMES_A_ROW, _FIXED_NS, strict=True)
        return [(fixed * self.gradients + fill * filling, times * self.rows_ns) for fill, times, fixed in figures]

    def _shares(self, filling_ns: float, updating_ns: float) -> tuple[float, float]:
        """What of their time the filling and the updating kernels then take."""
        filling = filling_ns / self.backward_ns if self.backward_ns else 1.0
        others_ns = self.launched_ns - self.update_ns
        updating = (others_ns + updating_ns) / self.launched_ns if self.launched_ns else 1.0
        return filling, updating
