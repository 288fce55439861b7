"""The phases that a cell's time is divided into."""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """What a stretch of the cell is for. The value is the word that users read."""

    SET_UP = "set-up"
    DATA = "data"
    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    TRAINING = "training step"  # of the loop's own code, in none of the five above
    EVALUATION = "evaluation"
    INFERENCE = "inference"
    GENERATION = "generation"
    COMPILING = "compiling"
    CHECKPOINT = "checkpoint"
    LOGGING = "logging"
    PLOTTING = "plotting"
    OTHER = "other"


PHASES = tuple(Phase)
