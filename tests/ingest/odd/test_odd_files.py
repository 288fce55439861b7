"""Files as no profiler should write them end in the tables, or in the line, that they ended in before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.altering import odd_files


@pytest.mark.parametrize("kind", odd_files.KINDS)
def test_what_becomes_of_odd_files(kind: str, tmp_path: Path) -> None:
    found = odd_files.told(kind, tmp_path)
    kept = odd_files.kept()[kind].split()
    assert len(kept) == len(found)
    others = [name for name, before in zip(found, kept, strict=True) if found[name] != before]
    now = odd_files.outcomes(kind, tmp_path) if others else {}
    assert not others, f"{len(others)} of {len(found)} (meant to be? {odd_files.WRITE}): {others[0]}\n{now[others[0]]}"
