"""Much of what the model computes is padding.

What it finds
    Batches of sequences of which at least a fifth of all positions is padding, in a run that is bound by computing: by
    their `attention_mask`, by another mask of booleans, or by tokens that all end in one and the same number. Batches
    that no DataLoader makes are known on a CPU, by the close look, where they index an embedding.

Why it costs
    The model computes a padded position like any other: all layers, forward and backward. Where every batch is padded
    to a fixed length, or one long sequence shares a batch with many short ones, most of the work is thrown away.

What to do
    Pad each batch to its own longest sequence only (`DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8)`, not
    `padding="max_length"`; a `collate_fn` that cuts `batch[:, :longest]` elsewhere), and put sequences of like length
    into a batch (`group_by_length=True` in Hugging Face's Trainer, a bucketing sampler elsewhere). Packing several
    sequences into one row removes the rest. Do not cut where layers depend on the length: a linear layer over all
    positions at once, or one that reads the last position (`x[:, -1]`).

When to leave it
    When the model takes the padding out itself (unpadded attention), when compiled or captured code needs one shape,
    or when the order of the samples matters. Where `pack_padded_sequence` runs, the rule says nothing: the layers that
    cost most do not compute the padding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.padded_positions import PaddedPositions
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.run.operators import Operators, when_called
from gpuprof.model import intervals
from gpuprof.model.context import Loader
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.needless.looked import cell_lines, line_words, without_look
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import Scope, graded

_MOST_PLACES = 3
_PACKED = "aten::_pack_padded_sequence"
_UNLESS = "unless layers depend on the length (a linear layer over all positions, `x[:, -1]`)"


@dataclass(frozen=True)
class PaddingWaste(Rule):
    """See the module."""

    padding_share: float = threshold(0.20, "of the positions: some is unavoidable in batches")
    high_share: float = threshold(0.50, "of the positions: then it is the first thing to mend")
    fixed_share: float = threshold(0.05, "of the positions lie beyond every sequence of their batch: a fixed length")
    work_share: float = threshold(
        0.10, "of the operators’ time goes to padding, where no loader is known: else too little"
    )

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the padding of the loader with the most positions."""
        loaders = [each for each in results.context.loaders if each.token_positions and each.tokens is not None]
        loader = max(loaders, key=lambda each: known(each.token_positions), default=None)
        if loader is None:
            return self._looked(results)
        if _padding(loader) < self.padding_share or len(when_called(results, _PACKED).starts):
            return None
        activity, compute, scope = results.get(DeviceActivity), KernelTime.of(results), Scope.of(results)
        if activity.recorded is False:
            return without_device(self.name, results, "the device’s kernels")
        if compute is None:
            operators = results.get(Operators)
            spent = float((operators.forward_ns or 0) + (operators.backward_ns or 0))
        elif activity.primary is not None and compute.limits(compute.rows(compute.inside)):
            spent = float(intervals.intersect(activity.primary.compute, scope.within).total_ns)
        else:
            return None
        return self._finding(scope, loader, min(spent, scope.total_ns))

    def _looked(self, results: Results) -> Finding | None:
        """Of batches that no loader made, by the close look."""
        found = results.get(PaddedPositions)
        share = found.share * found.padded_share
        seen = without_look(self.name, results) is None
        if not seen or found.padded_share < self.padding_share or share < self.work_share:
            return None
        where, made = (line_words(results.get(LookedLines).line(each)) for each in (found.place, found.made_at))
        at = f" The batch is made at {made}." if found.made_at >= 0 else ""
        places = (found.place, found.made_at, *found.places[:_MOST_PLACES])
        how = "lie beyond the longest sequence of their own batch: they are padded to a fixed length."
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"{units.percent(found.padded_share)} of the positions in the batches at {where} are padding",
            explanation=(
                f"In {units.plural(found.batches, 'batch', 'batches')} of up to {found.sequences}×{found.length} "
                f"positions {units.percent(found.padded_share)} "
                + (how if found.fixed else "are padding; the sequences in a batch differ much in length.")
                + f" {units.percent(found.share)} of the operators’ time in the close look goes to all positions.{at}"
            ),
            evidence={
                "sequences": found.sequences,
                "length": found.length,
                "padding_share": round(found.padded_share, 4),
                "operator_share": round(found.share, 4),
            },
            where=Where(lines=cell_lines(results, places)),
            change=f"Pad each batch to its own longest sequence only (`ids[:, :longest]`), {_UNLESS}; and sort the "
            "sequences by length first, so that those of like length share a batch."
            if found.fixed
            else "Sort the sequences by length before they are put into batches, so that those of like length share "
            f"one, and pad each batch to its own longest sequence only (`ids[:, :longest]`), {_UNLESS}. Sorting alone "
            "saves nothing where all batches have the same length.",
        )
        among = np.ones(len(results.get(ValueGraph).operators), bool)
        return valued(results, finding, share, [found.rows], among, part=found.padded_share)

    def _finding(self, scope: Scope, loader: Loader, spent_ns: float) -> Finding:
        positions, tokens = known(loader.token_positions), known(loader.tokens)
        share = _padding(loader)
        beyond = 1 - (loader.longest_positions or positions) / positions
        fixed = beyond >= self.fixed_share
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"{units.percent(share)} of the positions in the batches are padding",
            explanation=(
                f"Of {units.count(positions)} positions in the batches looked at, {units.count(tokens)} are real. "
                + (
                    f"{units.percent(beyond)} of the positions lie beyond the longest sequence of their own batch: "
                    "they are padded to a fixed length."
                    if fixed
                    else "Each batch is as long as its longest sequence; the sequences in it differ much."
                )
            ),
            evidence={
                "positions": positions,
                "tokens": tokens,
                "padding_share": round(share, 4),
                "beyond_longest_share": round(beyond, 4),
            },
            where=Where(lines=(loader.line,) if loader.line else ()),
            change="Pad each batch to its own longest sequence (`DataCollatorWithPadding(tokenizer)` instead of "
            f'`padding="max_length"`; elsewhere a `collate_fn` that cuts `batch[:, :longest]`), {_UNLESS}. Put '
            "sequences of like length into a batch: `group_by_length=True` in Hugging Face’s Trainer, a bucketing "
            "sampler elsewhere."
            if fixed
            else "Put sequences of like length into a batch: `group_by_length=True` in Hugging Face’s Trainer, a "
            "bucketing sampler elsewhere; or pack several into one row.",
            # batches of like length keep some padding: between none of what bucketing takes away and all of it
            saving=scope.saving(
                spent_ns * beyond * 0.5 if fixed else 0,
                spent_ns * (beyond + share) / 2,
                spent_ns * (1 - (1 - share) ** 2),
                "estimate: time in proportion to the positions; at most to their square, as attention’s is",
            ),
        )


def _padding(loader: Loader) -> float:
    return 1 - known(loader.tokens) / known(loader.token_positions)
