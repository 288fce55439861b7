"""Python, name clashes, processor cores, shared memory, the folder for runs."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gpuprof import units
from gpuprof._version import __version__
from gpuprof.doctor.check import Check

_DISTRIBUTION = "jupyter-gpuprof"
_SMALL_SHARED_MEMORY = 1 << 30  # a container's 64 MiB default breaks DataLoader workers with large batches


def checks() -> Iterator[Check]:
    """What does not need torch."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("gpuprof", "works", f"{__version__} on Python {version}")
    yield _name_clash()
    yield _cores()
    shared = _shared_memory()
    if shared:
        yield shared
    yield _run_folder()


def _name_clash() -> Check:
    owners = set(importlib.metadata.packages_distributions().get("gpuprof", ())) - {_DISTRIBUTION}
    if owners:
        return Check(
            "package name",
            "broken",
            f"another distribution also installs a package called gpuprof: {', '.join(sorted(owners))}",
            f"pip uninstall {' '.join(sorted(owners))}, then pip install --force-reinstall {_DISTRIBUTION}",
        )
    return Check("package name", "works", "no other distribution installs a package called gpuprof")


def _cores() -> Check:
    total = os.cpu_count() or 0
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    if allowed < 2:
        return Check(
            "processor cores",
            "warning",
            f"{allowed} of {total} may be used: DataLoader workers cannot run beside the main thread",
            "give the process more cores (taskset, container limits)",
        )
    return Check("processor cores", "works", f"{allowed} of {total} may be used")


def _shared_memory() -> Check | None:
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return None
    size = shutil.disk_usage(folder).total
    if size < _SMALL_SHARED_MEMORY:
        return Check(
            "shared memory",
            "warning",
            f"/dev/shm holds {units.size(size)}: DataLoader workers pass batches through it",
            "start the container with --shm-size=8g or --ipc=host",
        )
    return Check("shared memory", "works", f"/dev/shm holds {units.size(size)}")


def _run_folder() -> Check:
    from gpuprof.model.run_store import runs_folder

    try:
        folder = runs_folder()
    except FileNotFoundError:
        return Check(
            "folder for runs",
            "warning",
            "the working directory has been deleted: reports appear, but runs are not kept",
            "change to a folder that exists, or set GPUPROF_FOLDER",
        )
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            free = shutil.disk_usage(nearest).free
    except OSError as error:
        return Check(
            "folder for runs",
            "warning",
            f"{folder} cannot be written ({error.strerror}): reports appear, but runs are not kept",
            "set GPUPROF_FOLDER to a folder that can be written",
        )
    return Check("folder for runs", "works", f"{folder}, {units.size(free)} free")
