"""The recorded public traces beside the checkout (`../shared/traces`), where they are present."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "traces"
ABSENT = "the shared traces (../shared/traces) are not beside this checkout"

NAMES = (
    "a100-alexnet-sync-events",
    "a100-copies-pageable",
    "a100-copies-pinned",
    "a100-ddp-rank3-healthy",
    "a100-multistream-event-sync",
    "a100-sam-fewer-syncs",
    "a100-sam-many-syncs",
    "cpu-only-rank34",
    "h100-owlv2-dataloader-stacks",
    "h100-transformer-tiny-kernels",
    "mi300x-ddp-resnet18",
    "mi300x-qwen-rocm",
    "mi300x-resnet-checkpointing",
    "no-gpu-activity",
    "sampled-rank0",
    "torch-compile-triton",
    "v100-ddp-memory-nccl",
    "v100-resnet50-workers0",
    "v100-resnet50-workers4",
)


def shared_path(name: str) -> Path:
    """The file of that trace; skips the test where the folder is absent."""
    if not FOLDER.is_dir():
        pytest.skip(ABSENT)
    return FOLDER / "gpu" / f"{name}.json.gz"


def shared_facts(name: str) -> dict[str, Any]:
    """The independent figures of that trace (facts.json)."""
    if not FOLDER.is_dir():
        pytest.skip(ABSENT)
    facts = json.loads((FOLDER / "facts.json").read_text())
    return next(entry for entry in facts["traces"] if entry["file"] == f"{name}.json.gz")
