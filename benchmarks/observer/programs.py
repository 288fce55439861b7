"""The programs of manifest.toml: where they are published, and how they are brought here."""

from __future__ import annotations

import hashlib
import http.client
import os
import tomllib
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from benchmarks.proving.fresh import ROOT

MANIFEST = Path(__file__).with_name("manifest.toml")
BASE_URL = "https://raw.githubusercontent.com"
FOLDER_VARIABLE = "GPUPROF_PROGRAMS"
_TIMEOUT_S = 60.0


class ProgramError(Exception):
    """A program that could not be had, or is not the one that is meant. Its text is one line."""


@dataclass(frozen=True)
class Program:
    """One entry of the manifest."""

    name: str
    repository: str
    commit: str
    path: str
    license: str
    sha256: str

    @property
    def place(self) -> Path:
        """Where it lies in a folder of programs."""
        return Path(self.repository) / self.path

    def url(self, base: str = BASE_URL) -> str:
        """Where that version of it is published."""
        return f"{base}/{self.repository}/{self.commit}/{urllib.parse.quote(self.path)}"


def programs(manifest: Path = MANIFEST) -> dict[str, Program]:
    """Every entry, by name. ProgramError where two have the same name."""
    entries = tomllib.loads(manifest.read_text(encoding="utf-8"))["program"]
    found = {entry["name"]: Program(**entry) for entry in entries}
    if len(found) != len(entries):
        raise ProgramError(f"{manifest.name} has two programs of the same name")
    return found


def default_folder() -> Path:
    """Where programs are kept: the environment variable GPUPROF_PROGRAMS, else below `.gpuprof`."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else ROOT / ".gpuprof" / "programs"


def source(program: Program, folder: Path) -> str:
    """Its text, from a folder. ProgramError where it is not there or another version."""
    path = folder / program.place
    if not path.is_file():
        raise ProgramError(f"{path} is missing; `python -m benchmarks.observer fetch` brings it")
    return _checked(program, path.read_bytes(), str(path)).decode()


def fetch(program: Program, target: Path, local: Path | None = None, base: str = BASE_URL) -> str:
    """Have it in `target`, from the folder `local` where that has it, else downloaded; says what was done."""
    path = target / program.place
    if path.is_file():
        _checked(program, path.read_bytes(), str(path))
        return "already here"
    if local is not None and (local / program.place).is_file():
        origin = str(local / program.place)
        raw = Path(origin).read_bytes()
    else:
        origin = program.url(base)
        raw = _download(origin)
    content = _checked(program, raw, origin)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return f"from {origin}"


def _checked(program: Program, raw: bytes, origin: str) -> bytes:
    found = hashlib.sha256(raw).hexdigest()
    if found != program.sha256:
        raise ProgramError(f"{origin} has the sha256 {found}, not {program.sha256}")
    return raw


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            return bytes(answer.read())
    except (OSError, http.client.HTTPException) as error:
        raise ProgramError(f"{url} could not be downloaded: {error}") from error
