"""What findings foresaw of changes that were measured: read from the kept scores, or judged again from recordings.

A recording lies below a folder with the name that `record` gives it, `PAIR.SIZE.bad`, or that of a cell of
benchmarks/rounds. Nothing is measured again: what a pair's fix gives is kept in docs/evidence/data, that of a cell in
the `measured.json` of its round.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks.proving.fresh import ROOT
from benchmarks.proving.gains import Gain, Prediction, gain_of
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.run.cell_coverage import CellCoverage
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.run import Run

Shares = tuple[float, float, float]
ROUNDS = ROOT / "benchmarks" / "rounds"
CELLS = Path(__file__).with_name("measured_cells.toml")


@dataclass(frozen=True)
class Foreseen:
    """One finding's saving and what its fix was measured to give, as shares 0..1 of the same time before.

    `low`, `central`, `high`: as findings are ranked by them; `run_low` and `run_high` without what the next run may
    differ. `measured_low` to `measured_high`: the 95 % interval, None where there is none. `ceiling`: what the
    cause takes, where that was measured. `cell`: of benchmarks/rounds.
    """

    name: str
    family: str
    rule: str
    severity: str
    basis: str
    low: float
    central: float
    high: float
    run_low: float
    run_high: float
    measured: float
    measured_low: float | None = None
    measured_high: float | None = None
    ceiling: float = 1.0
    cell: bool = False

    @classmethod
    def of(cls, name: str, family: str, finding: Mapping[str, Any], shares: Shares, gain: Gain, **more: Any) -> Self:
        """A finding as in the JSON; `shares`: low, central and high of the time that was measured."""
        saving, (low, central, high) = finding["saving"], shares
        run_low, run_high = (
            min(central * saving[end] / saving["central_ms"], 1.0) if saving["central_ms"] else central
            for end in ("low_ms", "high_ms")
        )
        whole = (gain.low, gain.high) if gain.low < gain.share < gain.high else (None, None)
        named = (name, family, finding["rule"], finding["severity"], saving.get("basis", ""))
        ceiling = finding.get("ceiling_share", 1.0) * (central / saving["share"] if saving["share"] else 1.0)
        shares_of_run = (max(run_low, 0.0), run_high, gain.share, *whole, min(ceiling, 1.0))
        return cls(*named, max(low, 0.0), central, high, *shares_of_run, **more)

    @property
    def saving(self) -> Saving:
        """The saving, in shares of that time instead of ns."""
        ends = (self.run_low, self.central, self.run_high)
        return Saving(*ends, self.central, "C", self.basis, ceiling_share=self.ceiling)

    @property
    def finding(self) -> Finding:
        """A finding with this saving, for what is shown of it."""
        return Finding(self.rule, Severity[self.severity.upper()], "", "", {}, "", saving=self.saving)


def of_pairs(results: Iterable[Mapping[str, Any]]) -> list[Foreseen]:
    """Of the kept scores: of each pair, the first finding that one of its rules made of `bad`."""
    made = (_of_pair(result, result["variants"].get("bad", {}).get("report")) for result in results)
    return [each for each in made if each is not None]


def of_recordings(folder: Path, results: Iterable[Mapping[str, Any]]) -> list[Foreseen]:
    """The same of the recordings below the folder, judged by today's rules, and of the cells of rounds among them."""
    known = {f"{result['pair']}.{result['size']}.bad": result for result in results}
    cells: dict[str, Any] = tomllib.loads(CELLS.read_text(encoding="utf-8"))
    scripts, gains = cells.pop("scripts", {}), dict(_gains_of_cells())
    found = []
    newest = {path.parents[1].name: path.parent for path in sorted(folder.rglob("recording.json"))}
    for name, path in newest.items():
        if name in known:
            found.append(_of_pair(known[name], _judged(Run.load(path))))
        elif name in cells and name in gains:
            found.append(_of_cell(name, Run.load(path), cells[name], gains[name]))
        elif name in scripts:
            measured = scripts[name]
            gain = 1 - measured["cured_s"] / measured["faulty_s"]
            found.append(_of_script(name, Run.load(path), measured["rules"], gain))
    return [each for each in found if each is not None]


def _of_pair(result: Mapping[str, Any], report: Mapping[str, Any] | None) -> Foreseen | None:
    rules, gain = result["label"]["rules"], gain_of(dict(result))
    finding = next((each for each in (report or {}).get("findings", ()) if each["rule"] in rules), None)
    made = None if finding is None or report is None else Prediction.of(dict(result), dict(report), finding, gain)
    if made is None or finding is None:
        return None
    measured = made.measured
    return Foreseen.of(made.pair, made.family, finding, (made.low, made.central, made.high), measured)


def _gains_of_cells() -> Iterator[tuple[str, float]]:
    for path in sorted(ROUNDS.glob("*/measured.json")):
        for name, facts in json.loads(path.read_text(encoding="utf-8")).items():
            # a note of the writer's is no cell
            gain = facts.get("time_gain_share", facts.get("gain")) if isinstance(facts, dict) else None
            if gain is not None:
                yield name, float(gain)


def _judged(run: Run) -> dict[str, Any]:
    """The JSON of the run; a finding also has the `ceiling_share` of its saving."""
    report = run.to_dict()
    for told, finding in zip(report["findings"], run.findings, strict=True):
        told["ceiling_share"] = finding.saving.ceiling_share if finding.saving else 1.0
    return report


def _of_cell(name: str, run: Run, rules: Sequence[str], share: float) -> Foreseen | None:
    """What the first of these rules' findings saves of the cell without its set-up, mostly imports, which were done
    before it was measured: of the part that is like the recorded one."""
    report, results = _judged(run), run.report_data.results
    finding = next((each for each in report["findings"] if each["rule"] in rules and each["saving"]), None)
    if finding is None:
        return None
    saving, phases = finding["saving"], results.get(CellPhases)
    counted = 1 - (phases.share(Phase.SET_UP) if phases.sampled else 0.0)
    part = (1.0 if saving["of_cell"] else min(results.get(CellCoverage).alike, counted)) / max(counted, 0.01)
    low, central, high = (min(part * saving[end], 1.0) for end in ("low_share", "share", "high_share"))
    return Foreseen.of(name, "rounds", finding, (low, central, high), Gain(share, share, share, "cell"), cell=True)


def _of_script(name: str, run: Run, rules: Sequence[str], share: float) -> Foreseen | None:
    """What the first of these rules' findings saves of the cell, of which `share` was measured."""
    report, results = _judged(run), run.report_data.results
    finding = next((each for each in report["findings"] if each["rule"] in rules and each["saving"]), None)
    if finding is None:
        return None
    saving = finding["saving"]
    part = 1.0 if saving["of_cell"] else results.get(CellCoverage).alike
    low, central, high = (min(part * saving[end], 1.0) for end in ("low_share", "share", "high_share"))
    return Foreseen.of(name, "rounds", finding, (low, central, high), Gain(share, share, share, "cell"), cell=True)
