"""Steps that only run forward record a graph for gradients that nobody asks for.

What it finds
    At least three steps, no backward pass and no optimizer step in the whole recording, and yet autograd made nodes of
    its graph in nearly every step.

Why it costs
    Each operator makes a node and keeps its inputs for a backward pass that never comes: some µs of host time an
    operator, and memory for every activation until the result is dropped. That memory limits the batch.

What to do
    `with torch.inference_mode():` around the loop (or `@torch.inference_mode()` on the function); `torch.no_grad()`
    where its results go into a later calculation with gradients. `model.eval()` is something else: it changes dropout
    and batch norm, not the recording.

When to leave it
    When a later cell calls `backward()` on these results, or when gradients with respect to the inputs are wanted.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.training.gradient_recording import GradientRecording
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff, known_models
from gpuprof.rules.saving.scope import Scope


@dataclass(frozen=True)
class GradInInference(Rule):
    """See the module."""

    guard = Guard.EXACT
    whole_cell = True

    steps: float = threshold(3, "fewer do not show a habit: one forward pass may get its backward in the next cell")
    steps_share: float = threshold(0.9, "of the steps make nodes: a single layer that is switched on is no oversight")
    nodes: float = threshold(3, "a step: fewer are not a model")
    memory_share: float = threshold(0.6, "of the device at the peak: then the kept activations matter")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge whether the graph was of use."""
        found, scope = results.get(GradientRecording), Scope.of(results)
        window = results.context.window
        if found.backward:
            return None
        if not found.recorded:
            return Abstention(self.name, "the host’s operators", "Record the CPU activity together with CUDA’s.")
        if scope.steps < self.steps or (window is not None and window.ended_by == "error"):
            return None
        if (found.steps_with or 0) < self.steps_share * scope.steps or (found.nodes_per_step or 0) < self.nodes:
            return None
        return self._finding(results, scope, found)

    def _finding(self, results: Results, scope: Scope, found: GradientRecording) -> Finding:
        memory = results.get(MemoryPeak).primary
        peak = memory.whole_peak_bytes if memory else None
        full = memory is not None and memory.limit_bytes and peak and peak >= self.memory_share * memory.limit_bytes
        nodes = round(found.nodes_per_step or 0)
        return Finding(
            rule=self.name,
            severity=Severity.MEDIUM if full else Severity.LOW,
            title="Every step records a graph for gradients, and no backward pass follows",
            explanation=(
                f"Autograd made about {units.plural(nodes, 'node')} in each of {units.plural(scope.steps, 'step')}, "
                "and nothing went back through them: host time for each operator, and memory for the activations they "
                "keep."
            ),
            evidence={
                "graph_nodes_per_step": nodes,
                "steps": scope.steps,
                **({"peak_allocated_bytes": peak} if peak else {}),
            },
            change="Put `with torch.inference_mode():` around the loop, or `torch.no_grad()` where the results take "
            "part in a later calculation with gradients.",
            where=Where(lines=results.get(LinePlaces).cell_lines(found.making)),
            diff=_diff(results),
        )


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
