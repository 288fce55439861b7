"""Code that only runs forward records an autograd graph that nothing uses.

What it finds
    At least three steps or iterations, no backward pass and no optimizer step in the whole recording, and yet autograd
    made nodes of its graph in nearly every one. Or, in a cell that trains, forward passes of a model (an evaluation,
    generated samples, a teacher whose result is detached) whose nodes no backward pass ran through, though later ones
    came: 5% of the time or more. Outside the recording the close look tells: of all graphs that a line made there, each
    was freed before a backward pass ran through any of it.

Why it costs
    Each operator makes a node and keeps its inputs for a backward pass that never comes: some µs of host time an
    operator, and memory for every activation until the result is dropped. That memory limits the batch. How much time
    it is depends on the operators: small ones gain most, and large ones next to nothing. Measure it.

What to do
    `with torch.no_grad():` around the loop (or `@torch.no_grad()` on the function). `torch.inference_mode()` saves a
    little more, but only where its results take part in no gradient: its tensors cannot be saved for a backward pass,
    so a loss on a teacher's outputs, or a discriminator on generated samples, fails. `model.eval()` is something else:
    it changes dropout and batch norm, not the recording.

When to leave it
    When a later cell or iteration calls `backward()` on these results, or when gradients with respect to the inputs are
    wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.accounts.cell_memory import CellMemory
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.evaluations import Evaluations
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.dropped_graphs import DroppedGraphs
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.training.abandoned_graphs import BESIDE_TRAINING, AbandonedGraphs
from gpuprof.analyses.training.gradient_recording import GradientRecording
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.memory.saved_memory import LEAST_MIB, MEDIUM_SHARE, MIB, SavedMemory
from gpuprof.rules.needless.looked import cell_lines
from gpuprof.rules.needless.unread import all_at
from gpuprof.rules.saving.scope import worst
from gpuprof.rules.training.evaluation_places import in_other_cell, lines_of_cell

_MOST_PLACES = 3
_EVAL = "`model.eval()` alone does not turn the recording off."
# generated samples and the outputs of a teacher go into losses
_BESIDE_LOSSES = f"Run it under `torch.no_grad()`. {_EVAL}"
_EVALUATED = (
    "Run it under `torch.no_grad()`, or `torch.inference_mode()` where the results take part in no gradient. " + _EVAL
)


@dataclass(frozen=True)
class GradInInference(Rule):
    """See the module."""

    guard = Guard.EXACT
    whole_cell = True

    steps: float = threshold(3, "fewer do not show a habit: one forward pass may get its backward in the next cell")
    steps_share: float = threshold(0.9, "of the steps make nodes: a single layer that is switched on is no oversight")
    nodes: float = threshold(3, "a step: fewer are not a model")
    beside_share: float = threshold(0.05, "of the cell, or of the recorded time, beside training: less does not matter")
    medium_share: float = threshold(0.30, "of the cell, beside training: then the cost of recording is worth a change")
    memory_share: float = threshold(0.6, "of the device at the peak: then the kept activations matter")
    saved_share: float = threshold(MEDIUM_SHARE, "of the highest memory goes away: then it limits the batch")
    saved_mib: float = threshold(LEAST_MIB, "less limits nothing")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge whether the graph was of use: by the recording, and by the close look for the rest of the cell."""
        recorded, looked = self._recorded(results), self._looked(results)
        if looked is None or (isinstance(recorded, Finding) and recorded.severity >= looked.severity):
            return recorded
        return looked

    def _recorded(self, results: Results) -> Finding | Abstention | None:
        found, repeats = results.get(GradientRecording), results.get(Repeats)
        window = results.context.window
        if found.backward:
            return self._beside_training(results)
        if not found.recorded:
            return Abstention(self.name, "the host’s operators", "Record the CPU activity together with CUDA’s.")
        if repeats.count < self.steps or (window is not None and window.ended_by == "error"):
            return None
        if (found.steps_with or 0) < self.steps_share * repeats.count or (found.nodes_per_step or 0) < self.nodes:
            return None
        if repeats.iterations is not None and not _none_follows(results):
            return None
        return self._finding(results, repeats, found)

    def _finding(self, results: Results, repeats: Repeats, found: GradientRecording) -> Finding:
        peak, full = self._memory(results)
        nodes, noun = round(found.nodes_per_step or 0), repeats.noun
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if full else Severity.LOW,
            title=f"Every {noun} records a graph for gradients, and no backward pass follows",
            explanation=(
                f"Autograd made about {units.plural(nodes, 'node')} in each of {units.plural(repeats.count, noun)}, "
                "and nothing went back through them: host time for each operator, and memory for the activations they "
                "keep."
            ),
            evidence={
                f"graph_nodes_per_{noun}": nodes,
                f"{noun}s": repeats.count,
                **({"peak_allocated_bytes": peak} if peak else {}),
            },
            change="Put `with torch.inference_mode():` around the loop, or `torch.no_grad()` where the results take "
            "part in a later calculation with gradients.",
            where=Where(lines=results.get(LinePlaces).cell_lines(found.making)),
            diff=_diff(results),
        )

    def _memory(self, results: Results) -> tuple[int | None, bool]:
        memory = results.get(MemoryPeak).primary
        peak = memory.whole_peak_bytes if memory else None
        full = memory is not None and memory.limit_bytes and peak and peak >= self.memory_share * memory.limit_bytes
        return peak, bool(full)

    def _beside_training(self, results: Results) -> Finding | None:
        found, phases = results.get(AbandonedGraphs), results.get(CellPhases)
        beside = found.phase if found.phase in BESIDE_TRAINING else None
        of_cell = beside is not None and phases.sampled
        recorded = found.within.total_ns / results.span_ns if results.span_ns else 0.0
        share = found.model_share * phases.share(beside) if beside is not None and phases.sampled else recorded
        if not found.count or share < self.beside_share:
            return None
        # on a device the host's time matters only where the device waits for it
        slows = share >= self.medium_share and results.get(DeviceActivity).recorded is None
        peak, full = self._memory(results)
        places = results.get(Evaluations).places if beside is Phase.EVALUATION else ()
        nodes, who = units.plural(found.nodes, "node"), (beside.value.capitalize() if beside else "A forward pass")
        of = "the cell" if of_cell else "the recorded time"
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if slows or full else Severity.LOW,
            title=f"{who} records graphs for gradients, and no backward pass follows",
            explanation=(
                f"In the recorded part autograd made {nodes} that no backward pass went through: host time for each "
                f"operator, and memory for the activations they keep. It is {units.percent(share)} of {of} "
                f"that takes less without a graph. {in_other_cell(places)}"
            ).rstrip(),
            evidence={
                "graphs": found.count,
                "graph_nodes": found.nodes,
                "recorded_ms": units.milliseconds(found.within.total_ns),
                ("cell_share" if of_cell else "recorded_share"): round(share, 4),
                **({"peak_allocated_bytes": peak} if peak else {}),
            },
            change=_EVALUATED if beside is Phase.EVALUATION else _BESIDE_LOSSES,
            where=Where(
                lines=lines_of_cell(places) or results.get(LinePlaces).cell_lines(found.within),
                ranges_ns=worst(found.within),
            ),
        )

    def _looked(self, results: Results) -> Finding | None:
        found = results.get(DroppedGraphs)
        if not found.count or len(found.rows) < self.nodes:
            return None
        time, of_cell = results.get(LookedTime), False
        share = found.share
        if time.known:
            spent_ns, _ = time.of_rows(found.rows, np.ones(len(time.place), bool))
            share, of_cell = spent_ns / time.total_ns, True
        saved = self._saved(results, found)
        if share < self.beside_share and saved is None:
            return None
        slows = share >= self.medium_share and results.get(DeviceActivity).recorded is None
        places = found.places[:_MOST_PLACES]
        at = f" at {all_at(results, places)}" if places else ""
        kept = max(found.kept_bytes.values(), default=0)
        of = "the cell" if of_cell else "the operators’ time there"
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if slows or saved is not None else Severity.LOW,
            title=f"The forward pass{at} records graphs for gradients, and no backward pass follows",
            explanation=(
                f"In the close look autograd recorded {units.plural(found.count, 'graph')} there with "
                f"{units.plural(len(found.rows), 'node')}, and all were freed before a backward pass began at one. "
                f"{f'They kept up to {units.size(kept)} of activations at once there. ' if kept else ''}"
                f"{saved.words() + ' ' if saved is not None else ''}"
                f"{units.percent(share)} of {of} runs with a graph for nothing; how much of that time goes with the "
                "graph depends on the operators: measure it."
            ),
            evidence={
                "graphs": found.count,
                "graph_nodes": len(found.rows),
                ("cell_share" if of_cell else "looked_share"): round(share, 4),
                **({"kept_bytes": kept} if kept else {}),
                **(saved.evidence() if saved is not None else {}),
            },
            change=_BESIDE_LOSSES if _trains(results) else _EVALUATED,
            where=Where(lines=cell_lines(results, places)),
        )

    def _saved(self, results: Results, found: DroppedGraphs) -> SavedMemory | None:
        """Where so much of the peak goes away that it matters. The look may see the last of many passes: of what the
        process grew by at their lines, the graphs have the same share."""
        for memory in found.memory:
            grown = _grown_bytes(results, found.places) if memory.device == "cpu" else 0
            held = max(found.kept_bytes[memory.device], int(found.kept_share[memory.device] * grown))
            saved = SavedMemory.of(memory, held, refilled=True)
            if saved.saved_bytes >= self.saved_mib * MIB and saved.share >= self.saved_share:
                return saved
        return None


def _grown_bytes(results: Results, places: Sequence[int]) -> int:
    """By how much the process grew at these lines."""
    lines = [results.get(LookedLines).line(each) for each in places]
    own = {each.line for each in lines if each is not None and each.in_cell}
    others = {(each.file, each.line) for each in lines if each is not None and not each.in_cell}
    return sum(
        each.bytes
        for each in results.get(CellMemory).grown
        if (each.line in own if each.is_cell else (each.source_file, each.line) in others)
    )


def _none_follows(results: Results) -> bool:
    """Whether no backward pass came after the recorded iterations: a loop over the parts of a sequence has one at its
    end. A step has its own, or none."""
    window, phases = results.context.window, results.get(CellPhases)
    if window is not None and window.ended_by == "cell":
        return True
    return phases.sampled and not phases.share(Phase.BACKWARD, Phase.OPTIMIZER)


def _trains(results: Results) -> bool:
    """Whether gradients are computed in the cell, as far as was seen: results may go into their loss."""
    phases = results.get(CellPhases)
    return results.get(GradientRecording).backward or (phases.sampled and phases.share(Phase.BACKWARD) > 0)


def _diff(results: Results) -> str | None:
    """The loop over the one loader in inference mode, if no tensor leaves it."""
    lines = [loader.line for loader in results.context.loaders]
    line = lines[0] if len(lines) == 1 else None
    if line is None:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.evaluation import add_inference_mode

        return add_inference_mode(source, line, known_models(results))

    return cell_diff(results, edit)
