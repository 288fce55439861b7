"""Turns the output folder of a GPU check into pages and fixtures.

    python -m benchmarks.gpu_check.evidence DIR [DIR …]

Writes docs/evidence/gpu-check.md (what held, what did not, every figure with its device), test fixtures into
tests/data/gpu/, and what was recorded and measured of the labelled pairs into .gpuprof/proving, where
`python -m benchmarks.proving` scores it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

from benchmarks.gpu_check import evidence_page
from benchmarks.gpu_check.store import RESULTS, Store

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "evidence" / "gpu-check.md"
FIXTURES = ROOT / "tests" / "data" / "gpu"
PAIRS = ROOT / ".gpuprof" / "proving"
# recordings that tests read: one of each kind, and of the pairs the first size that was had
_FIXTURES = ("capture", "repeated/ours", "sync_lines", "memory_parts", "broken_cells", "launch_constants", "gpt2")
_MOST_BYTES = 12 * 1024**2
_NO_FIXTURE = {"report.txt", "gpu-tests.xml"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="of the same machine; later ones win")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--fixtures", type=Path)
    parser.add_argument("--pairs", type=Path, default=PAIRS)
    chosen = parser.parse_args()
    results, about = merged(chosen.folders)
    if about.get("device_kind") != "cuda" and not (chosen.page and chosen.fixtures):
        raise SystemExit("a rehearsal on the CPU is no evidence; --page and --fixtures show what would be written")
    page, kept = chosen.page or PAGE, chosen.fixtures or FIXTURES
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(evidence_page.page(results, about), encoding="utf-8")
    print(f"{page}: {len(results)} checks")
    print(f"{kept}: {len(fixtures(chosen.folders, kept))} recordings")
    print(f"{chosen.pairs}: {len(pairs(results, chosen.pairs))} pairs")


def merged(folders: list[Path]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The results of all folders, those with an outcome before those without, and what holds for all of them.

    SystemExit where one holds no results.
    """
    results: dict[str, dict[str, Any]] = {}
    about: dict[str, Any] = {}
    for folder in folders:
        if not (folder / RESULTS).exists():
            raise SystemExit(f"{folder}: there is no {RESULTS}; give the --output folder of a GPU check")
        store = Store(folder)
        about |= store.about
        for name, result in store.results.items():
            if store.done(name) or name not in results:
                results[name] = result
    return results, about


def fixtures(folders: list[Path], target: Path) -> list[Path]:
    """Unpack the recordings that tests read, as far as there is room; the folders that were written."""
    written: dict[Path, int] = {}
    for folder in folders:
        for archive in sorted(folder.glob("files-*.tar")):
            with tarfile.open(archive) as packed:
                _unpack(packed, target, written)
    return sorted(written)


def _unpack(packed: tarfile.TarFile, target: Path, written: dict[Path, int]) -> None:
    for member in packed:
        path = Path(member.name)
        pair = path.parts[:2] == ("pair", "record")
        if not member.isfile() or path.name in _NO_FIXTURE:
            continue
        if not pair and not any(path.is_relative_to(kind) for kind in _FIXTURES):
            continue
        home = target / _place(path)
        if home not in written and sum(written.values()) + member.size > _MOST_BYTES:
            continue
        content = packed.extractfile(member)
        assert content is not None
        home.mkdir(parents=True, exist_ok=True)
        with (home / path.name).open("wb") as out:
            shutil.copyfileobj(content, out)
        written[home] = written.get(home, 0) + member.size


def _place(path: Path) -> str:
    """One flat folder a recording: `capture-balanced`, `pair-item_each_step-balanced-bad`."""
    parts = [part for part in path.parent.parts if part != "record"]
    return "-".join(dict.fromkeys(parts))


def pairs(results: dict[str, dict[str, Any]], target: Path) -> list[Path]:
    """What was recorded and measured of each pair and size, as one result of benchmarks.proving each."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name, result in results.items():
        facts = result.get("facts", {})
        if not name.startswith("pair:") or "label" not in facts:
            continue
        key = (facts["pair"], facts["size"], facts["device"])
        entry = found.setdefault(key, {"variants": {}, "measured": None, "memory": None})
        entry |= {each: facts[each] for each in ("schema", "pair", "size", "device", "label")}
        entry |= {each: facts[each] for each in ("variants", "measured", "memory") if each in facts}
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for (pair, size, device), entry in found.items():
        if not entry["variants"]:
            continue  # measured, but not recorded yet
        path = target / f"{pair}.{size}.{device}.json"
        path.write_text(json.dumps(entry, indent=1, ensure_ascii=False), encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    main()
