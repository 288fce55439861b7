"""The scores as Markdown tables, with what each figure means beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.proving import metrics
from benchmarks.proving.score import FALSE, OPEN, RIGHT, Judged

NOT_MEASURED = "not yet measured"


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(value: float | None) -> str:
    """0..1 as a percentage."""
    return NOT_MEASURED if value is None else f"{100 * value:.0f} %"


def number(value: float | None, unit: str = "") -> str:
    """One digit behind the point."""
    return NOT_MEASURED if value is None else f"{value:.1f}{unit}"


def summary(judged: Judged) -> str:
    """The figures over all pairs, with their 95 % intervals by drawing pairs anew, and what was aimed at."""
    faults, predictions = len(judged.faults), len(judged.predictions)
    rows: list[tuple[str, Callable[[Judged], float | None], Callable[[float | None], str], str, str]] = [
        ("precision", metrics.precision, percent, "≥ 95 %", "findings above low severity that are right"),
        (
            "precision, besides as false",
            metrics.precision_with_besides,
            percent,
            "",
            "what a pair calls right about its workload, whatever the variant, counts as false",
        ),
        ("precision, every severity", metrics.precision_of_all, percent, "", "minor remarks count as claims"),
        ("recall", metrics.recall, percent, "≥ 90 %", f"of {faults} faults that cost at least 3 %"),
        ("hit@1", lambda of: metrics.hit_at(of, 1), percent, "", "the first finding is right"),
        ("hit@3", lambda of: metrics.hit_at(of, 3), percent, "", "one of the first three is"),
        ("regret", metrics.regret, percent, "", "of the time, left by following only the first"),
        ("line", metrics.on_line, percent, "", "right findings that name a labelled line"),
        ("median error of the saving", metrics.median_error_points, _points, "≤ 10 points", "of the time before"),
        ("median log error", metrics.median_log_error, _plain, "", "|ln predicted − ln measured factor|"),
        ("sign", metrics.sign_accuracy, percent, "", "the direction was foreseen"),
        ("coverage", metrics.coverage, percent, "≥ 80 %", f"of {predictions} ranges hold the measured saving"),
        ("median width of the ranges", metrics.median_width_points, _points, "", "a wide range is easily right"),
        ("harm rate", metrics.harm_rate, percent, "≤ 2 %", "of cures promised above 1.05×, below 0.98× measured"),
    ]
    return markdown(
        ("figure", "value", "95 % interval", "aim", "what it is"),
        [(name, show(of(judged)), _interval(judged, of, show), aim, means) for name, of, show, aim, means in rows],
    )


def by_rule(judged: Judged) -> str:
    """One row a rule."""
    return markdown(
        ("rule", "right", "false", "around 3 %", "gain not measured", "found", "missed", "precision", "recall"),
        [
            (
                f"`{row.rule}`",
                row.right,
                row.false,
                row.open,
                row.unmeasured,
                row.found,
                row.missed,
                percent(row.precision),
                percent(row.recall),
            )
            for row in metrics.rule_scores(judged)
        ],
    )


def by_family(judged: Judged) -> str:
    """One row a family of workloads."""
    rows = []
    for family, pairs in judged.families.items():
        part = judged.of_pairs(pairs)
        rows.append(
            (
                family,
                len(pairs),
                percent(metrics.precision(part)),
                percent(metrics.recall(part)),
                _points(metrics.median_error_points(part)),
                percent(metrics.coverage(part)),
            )
        )
    return markdown(("family", "pairs", "precision", "recall", "median error", "coverage"), rows)


def predictions(judged: Judged) -> str:
    """Every prediction beside what was measured."""
    return markdown(
        ("pair", "size", "rule", "grade", "predicted saving", "measured saving", "of the", "error", "in range"),
        [
            (
                each.pair,
                each.size,
                f"`{each.rule}`",
                each.grade,
                f"{100 * each.central:.0f} % ({100 * each.low:.0f} to {100 * each.high:.0f})",
                f"{100 * each.measured.share:.0f} % ({100 * each.measured.low:.0f} to {100 * each.measured.high:.0f})",
                each.measured.of,
                _points(each.error_points),
                "yes" if each.covered else "no",
            )
            for each in sorted(judged.predictions, key=lambda each: each.error_points)
        ],
    )


def faults(judged: Judged) -> str:
    """Every fault that costs, and which finding named it."""
    return markdown(
        ("pair", "size", "what the cure saves", "named by", "place among the findings"),
        [
            (
                each.pair,
                each.size,
                f"{100 * each.gain.share:.0f} % of the {each.gain.of}",
                f"`{each.found}`" if each.found else ("none: the rule abstained" if each.abstained else "none"),
                each.rank or "",
            )
            for each in judged.faults
        ],
    )


def wrong(judged: Judged) -> str:
    """Every finding that counts as false, and those that stand open."""
    return markdown(
        ("pair", "size", "variant", "rule", "severity", "judged", "why"),
        [
            (each.pair, each.size, each.variant, f"`{each.rule}`", each.severity, each.judged, each.why)
            for each in judged.firings
            if each.judged in (FALSE, OPEN)
        ],
    )


def counted(judged: Judged) -> str:
    """What the scores rest on, in one sentence."""
    right = sum(each.judged == RIGHT for each in judged.firings)
    return (
        f"{len(judged.pairs)} pairs with {judged.variants} recorded variants, {judged.clean} of them without the "
        f"fault; {len(judged.faults)} faults cost at least 3 % as measured; {right} findings are right; "
        f"{metrics.high_on_good(judged)} of high severity on cured cells "
        f"({metrics.high_on_good_of_all(judged)} with those that are right about the workload itself)."
    )


def _interval(judged: Judged, of: Callable[[Judged], float | None], show: Callable[[float | None], str]) -> str:
    found = metrics.interval(judged, of)
    return "" if found is None else f"{show(found[0])} to {show(found[1])}"


def _points(value: float | None) -> str:
    return number(value, " points")


def _plain(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.2f}"
