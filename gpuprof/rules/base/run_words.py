"""What a run's parts are called, by its kind: what is said of a training loop would be wrong of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from gpuprof.analyses.accounts.run_kind import KindOfRun, RunKind
from gpuprof.analyses.basics.result import Results


@dataclass(frozen=True)
class RunWords:
    """`loop`: around the iterations; `passes`: around passes over the data; `thread`: that runs it. `batch`: how to put
    more into one iteration, an imperative without a full stop; `batch_note`: what that changes besides the time."""

    loop: str = "loop"
    passes: str = "the loop over the data"
    thread: str = "main thread"
    batch: str = "use a larger batch if memory allows it"
    batch_note: str = ""

    @classmethod
    def of(cls, results: Results) -> Self:
        """Those of the run's kind; neutral ones where it is none of those that have their own."""
        return cls(**_WORDS.get(results.get(RunKind).kind, {}))


_WORDS: Mapping[KindOfRun, Mapping[str, str]] = MappingProxyType(
    {
        KindOfRun.TRAINING: {
            "loop": "training loop",
            "passes": "the loop over epochs",
            "thread": "training thread",
            "batch_note": "Adapt the learning rate.",
        },
        KindOfRun.EVALUATION: {
            "loop": "evaluation loop",
            "passes": "the first evaluation",
            "batch": "evaluate a larger batch at a time if memory allows it",
            "batch_note": "What is evaluated stays the same.",
        },
        KindOfRun.INFERENCE: {
            "loop": "inference loop",
            "passes": "the first pass over the data",
            "batch": "infer on more inputs at a time if memory allows it",
            "batch_note": "Each input then waits for the others of its batch.",
        },
        KindOfRun.GENERATION: {
            "loop": "generation loop",
            "passes": "the first pass over the prompts",
            "batch": "generate for more prompts at a time if memory allows it",
            "batch_note": "Each prompt then waits for the longest of its batch.",
        },
        KindOfRun.SERVING: {
            "loop": "server",
            "batch": "let more requests share a batch if memory allows it",
            "batch_note": "Each request then waits for the others of its batch.",
        },
    }
)
