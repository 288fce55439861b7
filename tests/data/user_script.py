"""What a user may write; mypy --strict checks it against the installed package (tests/test_public_door.py)."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import gpuprof


def advice(path: Path | str) -> list[str]:
    run = gpuprof.load(path)
    assert_type(run, gpuprof.Run)
    assert_type(run.findings, tuple[gpuprof.Finding, ...])
    assert_type(run.abstained, tuple[gpuprof.Abstention, ...])
    return [finding.title for finding in run.findings if share(finding.saving) > 0.05]


def share(saving: gpuprof.Saving | None) -> float:
    return 0.0 if saving is None else saving.share


def rows(run: gpuprof.Run) -> dict[str, int]:
    return {name: len(run.tables[name]) for name in run.tables}


def profiled(folder: Path) -> gpuprof.Run:
    with gpuprof.profile(name="typed", steps=5, skip=1, max_seconds=10, memory=True, folder=folder) as run:
        sum(range(1000))
    assert_type(run, gpuprof.Run)
    assert_type(run.write_html(folder / "report.html", redact=True), Path)
    return run


def faster(folder: Path) -> str:
    before, after = gpuprof.load(folder / "before"), gpuprof.last()
    comparison = after.compare(before)
    assert_type(comparison.sentence(), str)
    assert_type(after.report_data.findings, tuple[gpuprof.Finding, ...])
    return f"{comparison.sentence()} {len(gpuprof.history(folder))} saved runs"


def asked(run: gpuprof.Run) -> str:
    answer = run.whatif(kernel_time={"*gemm*": 0.5}, without_lines=[12], data_ready=True, link_speedup=2)
    assert_type(answer, gpuprof.Answer)
    assert_type(answer.central_share, float | None)
    return str(answer)


def measured() -> gpuprof.Measurement:
    try:
        measured_change = gpuprof.verify(lambda: sum(range(1000)), lambda: 499_500, guard="exact", pairs=3)
    except gpuprof.GpuprofError as error:
        raise SystemExit(str(error)) from error
    assert_type(measured_change, gpuprof.Measurement)
    assert_type(measured_change.ratio, float | None)
    return measured_change
