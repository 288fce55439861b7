"""The public recordings: in tests/recordings/traces, where `make traces` puts them, or in ../shared/traces.

A test that reads one has the mark `recordings`. The fixtures `shared_trace` and `any_shared_trace` give it by
themselves; a test that calls `shared_file`, `shared_path` or `shared_facts` is marked by hand. Where recordings are
missing such tests are left out, and one line says how many (conftest.py). `GPUPROF_TRACES` names another folder.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.recordings.fetch import BESIDE, HERE, TARGET, recordings

FOLDERS = (Path(os.environ["GPUPROF_TRACES"]),) if "GPUPROF_TRACES" in os.environ else (TARGET, BESIDE)

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


def missing() -> list[str]:
    """The recordings of the manifest that are in none of the folders."""
    return [each.name for each in recordings() if not any((folder / each.name).is_file() for folder in FOLDERS)]


def shared_file(name: str) -> Path:
    """That recording, by the name it has in the manifest (`ranks/v100-dlrm-8ranks.tar.gz`)."""
    found = [folder / name for folder in FOLDERS if (folder / name).is_file()]
    if not found:
        raise FileNotFoundError(f"{name} is missing: `make traces` brings it; the test needs the mark `recordings`")
    return found[0]


def shared_path(name: str) -> Path:
    """The file of the trace with that short name, one of NAMES."""
    return shared_file(f"gpu/{name}.json.gz")


def shared_facts(name: str) -> dict[str, Any]:
    """The independent figures of that trace (tests/recordings/facts.json)."""
    facts: dict[str, Any] = json.loads((HERE / "facts.json").read_text(encoding="utf-8"))
    return next(entry for entry in facts["traces"] if entry["file"] == f"{name}.json.gz")
