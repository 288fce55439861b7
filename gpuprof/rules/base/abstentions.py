"""Abstentions that several rules share."""

from __future__ import annotations

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.training_passes import TrainingPasses
from gpuprof.rules.base.finding import Abstention


def without_device(rule: str, results: Results, needs: str) -> Abstention:
    """`needs` is what the rule would have looked at, had the device's activity been captured."""
    if results.get(DeviceActivity).recorded is None:
        return Abstention(
            rule, "a GPU in the run", "Nothing in this recording ran on one; the same cell on a GPU can be judged."
        )
    return Abstention(rule, needs, "Run `gpuprof doctor`: it tells why device activity was not captured.")


def without_host_memory(rule: str) -> Abstention:
    """For a trace that does not tell pageable from pinned memory."""
    return Abstention(
        rule,
        "whether the copied host memory is pageable or pinned, which this trace does not say",
        "ROCm traces hide it; check that the DataLoader has `pin_memory=True`.",
    )


def without_other_ranks(rule: str) -> Abstention:
    """For one rank's trace alone."""
    return Abstention(
        rule,
        "the traces of the other ranks",
        "Save every rank’s trace, with its rank in the file name, to one folder; `gpuprof.load(folder)`.",
    )


def without_training(rule: str, results: Results) -> Abstention:
    """For a run in which no steps of training were recognised."""
    if results.get(TrainingPasses).unlinked:
        return Abstention(
            rule,
            "autograd’s numbers, which join the backward pass to the operators it is of",
            "Profile the cell with `%%gpuprofile`; this trace does not hold them.",
        )
    return Abstention(
        rule, "steps of training, or a GPU in the run", "On a CPU it judges what is done beside forward and backward."
    )
