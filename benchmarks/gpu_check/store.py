"""The output folder: `results.json` and archives of the files, few and small enough to be carried anywhere.

Only the standard library is needed here, and every write is whole or not at all.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.gpu_check.check import write_json

RESULTS = "results.json"
FORMAT = 1
# 8 files of 16 MiB and 64 MiB together are what a result may take; results.json grows to some 10 MiB
VOLUME_BYTES = 15 * 1024**2
MOST_BYTES = 48 * 1024**2
FINAL = {"held", "did not hold", "needs a CUDA device", "crashed", "timed out", "absent"}


class Store:
    """What is known so far. `results` maps a check's name to its result; it is final when `done` says so."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._state: dict[str, Any] = {"format": FORMAT, "checks": {}}
        path = folder / RESULTS
        if path.exists():
            self._state = json.loads(path.read_text(encoding="utf-8"))
            if self._state.get("format") != FORMAT:
                raise SystemExit(f"{path}: of another version of this kit; give an empty folder")

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """By name of the check."""
        checks: dict[str, dict[str, Any]] = self._state["checks"]
        return checks

    @property
    def about(self) -> dict[str, Any]:
        """What holds for all of it: device, versions."""
        return {key: value for key, value in self._state.items() if key not in ("format", "checks")}

    def describe(self, **facts: Any) -> None:
        """Keep facts that hold for all of it."""
        self._state.update(facts)
        self._write()

    def done(self, name: str) -> bool:
        """Whether it need not run again."""
        return self.results.get(name, {}).get("status") in FINAL

    def attempts(self, name: str) -> int:
        """How often it was begun."""
        return int(self.results.get(name, {}).get("attempts", 0))

    def put(self, name: str, result: dict[str, Any]) -> None:
        """Keep a result."""
        self.results[name] = result
        self._write()

    def forget(self, names: Iterable[str]) -> None:
        """Let these run again."""
        for name in names:
            self.results.pop(name, None)
        self._write()

    def add_files(self, name: str, folder: Path) -> dict[str, Any]:
        """Put the folder's files into an archive, under the check's name; says where they are and what had no room."""
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if not files:
            return {}
        size = sum(path.stat().st_size for path in files)
        volumes = sorted(self.folder.glob("files-*.tar"))
        if sum(path.stat().st_size for path in volumes) + size > MOST_BYTES or size > VOLUME_BYTES:
            return {"left_out": f"{len(files)} files, {size} bytes: no room"}
        volume = self._volume(volumes, size)
        fresh = volume.with_suffix(".new")
        with tarfile.open(fresh, "w") as packed:
            for member, content in _members(volume, name):
                packed.addfile(member, content)
            for path in files:
                packed.add(path, f"{name.replace(':', '/')}/{path.relative_to(folder)}", filter=_anonymous)
        fresh.replace(volume)
        return {"archive": volume.name, "bytes": size}

    def _volume(self, volumes: list[Path], size: int) -> Path:
        known = {result.get("files", {}).get("archive") for result in self.results.values()} - {None}
        last = max(
            [int(str(each).removesuffix(".tar")[6:]) for each in {*known, *(p.name for p in volumes)}], default=1
        )
        current = self.folder / f"files-{last}.tar"
        if current.exists() and current.stat().st_size + size <= VOLUME_BYTES:
            return current
        return self.folder / f"files-{last + bool(known or volumes)}.tar"

    def _write(self) -> None:
        write_json(self.folder / RESULTS, self._state)


def _members(volume: Path, name: str) -> Iterable[tuple[tarfile.TarInfo, Any]]:
    """What the archive holds already, but for this check's files of an earlier attempt."""
    if not volume.exists():
        return
    with tarfile.open(volume) as packed:
        for member in packed:
            if not member.name.startswith(f"{name.replace(':', '/')}/"):
                yield member, packed.extractfile(member)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
