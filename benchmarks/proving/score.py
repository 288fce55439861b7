"""Judges what was said of the pairs: which findings are right, which are false, what was missed, what was foreseen.

A finding is right where its cause is labelled and its cure verified to give at least 3 % (the lower end of the
interval). It is false on a variant that is not labelled with it, and where the cure is measured to give less. Findings
of low severity are said to be minor: they are right or false only in the scores over all severities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.proving.gains import Gain, Prediction, gain_of

RIGHT, FALSE, OPEN, UNMEASURED, MINOR = "right", "false", "open", "unmeasured", "minor"
BESIDES = "right about the workload itself, whatever the variant"
_WITH_THE_FAULT = ("bad", "double")


@dataclass(frozen=True)
class Firing:
    """One finding on one variant, judged. `rank` counts from 1; `on_line` says whether a labelled line is named."""

    pair: str
    size: str
    family: str
    variant: str
    rule: str
    severity: str
    rank: int
    judged: str
    on_line: bool | None
    why: str


@dataclass(frozen=True)
class Fault:
    """A labelled fault that costs, and whether it was found; `rank` is that of the first right finding."""

    pair: str
    size: str
    family: str
    rules: tuple[str, ...]
    gain: Gain
    found: str | None
    rank: int | None
    abstained: bool

    @property
    def regret(self) -> float:
        """The share of time that following the first finding leaves on the table."""
        return 0.0 if self.rank == 1 else self.gain.share


@dataclass
class Judged:
    """All that was judged. `families`: a family of workloads → its pairs. `first_sight`: pair → its label.

    `failed`: what could not be done, and why.
    """

    families: dict[str, tuple[str, ...]] = field(default_factory=dict)
    first_sight: dict[str, dict[str, Any]] = field(default_factory=dict)
    firings: list[Firing] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    predictions: list[Prediction] = field(default_factory=list)
    variants: int = 0
    clean: int = 0
    unmeasured: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def of_pairs(self, pairs: Sequence[str]) -> Judged:
        """The same of these pairs only, each as often as it is named."""
        kept = {family: tuple(name for name in known if name in pairs) for family, known in self.families.items()}
        return Judged(
            families={family: names for family, names in kept.items() if names},
            firings=[each for name in pairs for each in self.firings if each.pair == name],
            faults=[each for name in pairs for each in self.faults if each.pair == name],
            predictions=[each for name in pairs for each in self.predictions if each.pair == name],
        )

    @property
    def pairs(self) -> tuple[str, ...]:
        """The workloads that were recorded."""
        return tuple(pair for pairs in self.families.values() for pair in pairs)


def judge(results: Iterable[dict[str, Any]]) -> Judged:
    """Judge every result."""
    known = list(results)
    sights = {result["pair"]: result["label"]["first_sight"] for result in known if result["label"].get("first_sight")}
    judged = Judged(families=_families(known), first_sight=sights)
    for result in known:
        name = f"{result['pair']} ({result['size']}, {result['device']})"
        gain = gain_of(result)
        for key in ("measured", "memory"):
            if result[key] and "error" in result[key]:
                judged.failed.append(f"{name}: {result[key]['error']}")
        if gain is None:
            judged.unmeasured.append(name)
        for variant, recorded in result["variants"].items():
            if "error" in recorded:
                judged.failed.append(f"{name}, {variant}: {recorded['error']}")
                continue
            judged.variants += 1
            judged.clean += variant not in _WITH_THE_FAULT
            judged.firings += _firings(result, variant, recorded, gain)
        bad = result["variants"].get("bad", {})
        if "error" in bad or not bad:
            continue
        if gain is not None and gain.verified:
            judged.faults.append(_fault(result, bad, gain))
        judged.predictions += _predictions(result, bad, gain)
    return judged


def _families(results: Sequence[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    families: dict[str, dict[str, None]] = {}
    for result in results:
        families.setdefault(result["label"]["family"], {})[result["pair"]] = None
    return {name: tuple(pairs) for name, pairs in sorted(families.items())}


def _firings(result: dict[str, Any], variant: str, recorded: dict[str, Any], gain: Gain | None) -> Iterator[Firing]:
    label = result["label"]["variants"][variant]
    besides = result["label"].get("besides", {}).get(result["size"], ())
    foreign = result["device"] == "cpu" and result["label"].get("shows_on") == "cuda"
    lines: dict[str, set[int]] = {}
    for line, rule in label["lines"]:
        lines.setdefault(rule, set()).add(line)
    for rank, finding in enumerate(recorded["report"]["findings"], start=1):
        rule, severity = finding["rule"], finding["severity"]
        named = {line - recorded["lines_above"] for line in finding["where"]["lines"]}
        verdict, why = _verdict(variant, label["rules"], rule, severity, gain)
        if verdict == FALSE and foreign and variant not in ("bad", "good"):
            verdict, why = UNMEASURED, "what holds this variant up is labelled for a device only"
        if verdict == FALSE and rule in besides and rule not in label["rules"]:
            verdict, why = UNMEASURED, BESIDES
        where = (result["pair"], result["size"], result["label"]["family"])
        on_line = bool(named & lines[rule]) if rule in lines else None
        yield Firing(*where, variant, rule, severity, rank, verdict, on_line, why)


def _verdict(variant: str, labelled: Sequence[str], rule: str, severity: str, gain: Gain | None) -> tuple[str, str]:
    if rule not in labelled:
        return (MINOR if severity == "low" else FALSE), f"not labelled on `{variant}`"
    if variant != "bad" or gain is None:
        return UNMEASURED, "labelled; its gain is not measured"
    if gain.verified is None:
        return OPEN, "the measured gain may be more or less than 3 %"
    return (RIGHT, "") if gain.verified else (FALSE, "its cure gives less than 3 %")


def _fault(result: dict[str, Any], bad: dict[str, Any], gain: Gain) -> Fault:
    rules, report = tuple(result["label"]["rules"]), bad["report"]
    ranks = [(rank, each["rule"]) for rank, each in enumerate(report["findings"], start=1) if each["rule"] in rules]
    rank, found = ranks[0] if ranks else (None, None)
    where = (result["pair"], result["size"], result["label"]["family"])
    abstained = any(each["rule"] in rules for each in report["abstained"])
    return Fault(*where, rules, gain, found, rank, abstained and found is None)


def _predictions(result: dict[str, Any], bad: dict[str, Any], gain: Gain | None) -> list[Prediction]:
    report = bad["report"]
    first = next((each for each in report["findings"] if each["rule"] in result["label"]["rules"]), None)
    made = None if first is None else Prediction.of(result, report, first, gain)
    return [] if made is None else [made]
