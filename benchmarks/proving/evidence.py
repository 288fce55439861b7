"""Makes docs/evidence/ from what was recorded and measured.

    python -m benchmarks.proving.evidence [FOLDER ...]

Results below the folders (default: .gpuprof/proving) are packed into docs/evidence/data/, one file a machine; the pages
are made from all files there. Where there are no new results the pages are made again from what is kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.proving import evidence_pages
from benchmarks.proving.fresh import ROOT, write_json
from benchmarks.proving.packed import file_name, pack, read_packed
from benchmarks.proving.ranges import read_kept
from benchmarks.proving.traces import TraceScore, score_traces

DEFAULT = ROOT / ".gpuprof" / "proving"
PAGES = ROOT / "docs" / "evidence"
FOLDERS = (ROOT / "tests" / "recordings" / "traces" / "gpu", ROOT.parent / "shared" / "traces" / "gpu")
TRACES = next((folder for folder in FOLDERS if folder.is_dir()), FOLDERS[0])


def main() -> None:
    parser = argparse.ArgumentParser(description="make docs/evidence/ from results")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--note", default="", help="what the reader must know of this measurement, kept with it")
    parser.add_argument("--pages", type=Path, default=PAGES, help="default: docs/evidence")
    chosen = parser.parse_args()
    for folder in chosen.folders or [DEFAULT]:
        keep(folder, chosen.pages / "data", note=chosen.note)
    for path in write_pages(chosen.pages):
        print(path)


def keep(folder: Path, data: Path, *, note: str = "") -> list[Path]:
    """Pack the results of a folder into `data`, one file for each device that they come from."""
    written = []
    for packed in pack(folder):
        path = data / file_name(packed["machine"])
        write_json(path, {**packed, "note": note})
        written.append(path)
    return written


def write_pages(pages: Path) -> list[Path]:
    """Make every page from `pages`/data; the paths written."""
    kept = read_packed((pages / "data").glob("*.json"))
    traces = _traces(pages / "data" / "traces" / "scores.json")
    texts = {
        "index.md": evidence_pages.index(kept),
        "scores.md": evidence_pages.scores(kept, traces),
        "prediction.md": evidence_pages.prediction(kept, *read_kept(pages / "data" / "predictions" / "cpu.json")),
        "comparison.md": evidence_pages.comparison(kept),
    }
    for name, text in texts.items():
        (pages / name).write_text(text, encoding="utf-8")
    return [pages / name for name in texts]


def _traces(kept: Path) -> Sequence[TraceScore]:
    """Scored now where the public recordings are here, else as they were scored last."""
    found = score_traces(TRACES)
    if found:
        write_json(kept, [vars(score) for score in found])
        return found
    stored: list[dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else []
    return [TraceScore(**entry) for entry in stored]


if __name__ == "__main__":
    main()
