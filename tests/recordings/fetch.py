"""Brings the public recordings that manifest.toml names, for the tests that read them: `make traces`.

python tests/recordings/fetch.py [--from FOLDER] [--to FOLDER] [--base-url URL]

Takes each from a folder on this machine that has it, otherwise downloads it. Nothing is kept unless its content has the
sha256 of the manifest. What is there already is left alone, so that a second call goes on where the first one ended.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import http.client
import sys
import tomllib
import urllib.error
import urllib.parse
import urllib.request
import zlib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MANIFEST = HERE / "manifest.toml"
TARGET = HERE / "traces"
BESIDE = ROOT.parent / "shared" / "traces"
BASE_URL = "https://raw.githubusercontent.com"
TIMEOUT_S = 60.0
GZIP = b"\x1f\x8b"


class NotBroughtError(Exception):
    """A recording that could not be had; its text is the rest of the line about it."""


class UnreachedError(NotBroughtError):
    """The place it is published at does not answer, so that it will not for the others either."""


@dataclass(frozen=True)
class Recording:
    """One entry of the manifest, described there."""

    name: str
    repository: str
    commit: str
    path: str
    license: str
    sha256: str
    confirmed: bool
    why: str = ""

    def url(self, base: str) -> str:
        """Where that version of the file is published."""
        return f"{base}/{self.repository}/{self.commit}/{urllib.parse.quote(self.path)}"


def recordings(manifest: Path = MANIFEST) -> tuple[Recording, ...]:
    """Every entry of the manifest."""
    return tuple(Recording(**entry) for entry in tomllib.loads(manifest.read_text(encoding="utf-8"))["recording"])


def content(raw: bytes) -> bytes:
    """What the sha256 of the manifest is of."""
    return gzip.decompress(raw) if raw.startswith(GZIP) else raw


def check(recording: Recording, raw: bytes, origin: str) -> None:
    """Refuse what does not have the content of the manifest."""
    try:
        found = hashlib.sha256(content(raw)).hexdigest()
    except (OSError, EOFError, zlib.error) as error:
        raise NotBroughtError(f"refused, {origin} is a damaged gzip file: {error}") from error
    if found != recording.sha256:
        raise NotBroughtError(f"refused, {origin} has the sha256 {found}, not {recording.sha256}")


def keep(recording: Recording, raw: bytes, target: Path) -> None:
    """Write it at once as a whole, compressed where its name says so."""
    path = target / recording.name
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    compressed = path.suffix != ".gz" or raw.startswith(GZIP)
    part.write_bytes(raw if compressed else gzip.compress(raw, mtime=0))
    part.replace(path)


def download(url: str) -> bytes:
    """The bytes at that address."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        raise NotBroughtError(f"{url} could not be downloaded: {error.code} {error.reason}") from error
    except http.client.HTTPException as error:
        raise NotBroughtError(f"{url} could not be downloaded: {error!r}") from error
    except OSError as error:
        raise UnreachedError(f"{url} could not be reached: {getattr(error, 'reason', None) or error}") from error


def bring(recording: Recording, folder: Path | None, target: Path, base: str | None) -> str:
    """Have it in `target`; says what was done. Without `base` nothing is downloaded."""
    kept = target / recording.name
    if kept.is_file():
        try:
            check(recording, kept.read_bytes(), "the kept file")
            return "already here"
        except NotBroughtError:
            kept.unlink()
    if folder is not None and (folder / recording.name).is_file():
        origin = folder / recording.name
        raw, said = origin.read_bytes(), f"copied from {folder}"
    elif base is None:
        raise NotBroughtError("not tried")
    else:
        origin = recording.url(base)
        raw, said = download(origin), f"downloaded from {origin}"
    check(recording, raw, str(origin))
    keep(recording, raw, target)
    return said


def main(arguments: list[str]) -> int:
    """Bring every recording of the manifest; 1 where one is missing afterwards."""
    parser = argparse.ArgumentParser(description="bring the public recordings that tests read")
    parser.add_argument("--from", dest="folder", type=Path, help="a folder that has some (default: ../shared/traces)")
    parser.add_argument("--to", dest="target", type=Path, default=TARGET)
    parser.add_argument("--base-url", default=BASE_URL, help=f"default: {BASE_URL}")
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    chosen = parser.parse_args(arguments)
    folder = chosen.folder or (BESIDE if BESIDE.is_dir() else None)
    if folder is not None and not folder.is_dir():
        parser.error(f"{folder} is not a folder")
    wanted, missing, base = recordings(chosen.manifest), 0, chosen.base_url.rstrip("/")
    for recording in wanted:
        try:
            said = bring(recording, folder, chosen.target, base)
        except NotBroughtError as error:
            said, missing = str(error), missing + 1
            base = None if isinstance(error, UnreachedError) else base
        print(f"{recording.name}: {said}", flush=True)
    if missing:
        print(f"{missing} of {len(wanted)} recordings are missing; the next call brings only those")
        return 1
    print(f"{len(wanted)} recordings are in {chosen.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
