"""What a validity check says: a Doubt, which names the evidence that it spoils."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import ClassVar

from gpuprof.analyses.basics.result import Result


class Evidence(StrEnum):
    """What a saving rests on. Its value is the plural that a sentence uses."""

    CPU_TIMES = "CPU times"
    GPU_TIMES = "GPU times"
    WAITS = "waits"  # idle time of one side while the other works, and waits for data
    COUNTS = "counts"  # of calls, samples or scheduler ticks: no clock in them
    MEMORY = "memory sizes"
    READINGS = "sensor readings"
    SETTINGS = "settings"


ALL = frozenset(Evidence)
TIMES = frozenset({Evidence.CPU_TIMES, Evidence.GPU_TIMES, Evidence.WAITS})


class Handling(IntEnum):
    """What becomes of the findings that rest on spoiled evidence; sorts from mild to strict."""

    SAID = 0  # they stay; the sentence above the verdict says the doubt
    LOWERED = 1  # one severity down
    WITHHELD = 2


@dataclass(frozen=True)
class Doubt:
    """Why a recording is doubtful, or cannot be judged.

    `code`: the check's name, stable for programs. `sentence`: what is wrong, with its figure; `remedy`: what to do,
    an imperative. `cannot_judge`: the run as a whole has no verdict. `spoils`: the evidence that is not to be relied
    on, `handling` what becomes of findings that rest on it. `restates`: notes of the recording that say the same.
    """

    code: str
    sentence: str
    remedy: str
    cannot_judge: bool = False
    spoils: frozenset[Evidence] = frozenset()
    handling: Handling = Handling.SAID
    restates: tuple[str, ...] = ()


@dataclass(frozen=True)
class ValidityCheck(Result):
    """Base of every check: a Result whose `doubt` is None where the recording stands the test.

    `order`: its place among doubts of the same weight; the lower is said first.
    """

    order: ClassVar[int]
    doubt: Doubt | None = None
