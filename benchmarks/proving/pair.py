"""A labelled pair: the cell with one known fault, the same cell cured, and the label, read from one small file.

The file (`benchmarks/pairs/<subject>/<name>.py`) is Python in percent cells that is never imported. Its docstring is
TOML: number, title (of the fix), family, rule, guard, shows_on, published, `[sizes.<name>]` and, for variants other
than `bad` and `good`, `[variants.<name>]` with `rules` and `why`. `sizes.cpu` is what a user would wait seconds for:
it is scored on a CPU instead of the mini size, which tests the code. `whole_cell = true` where the gain lies outside
the steps; `gain = "memory"` where the cure frees memory rather than time. `[besides]` names, by size, rules that are
right about the workload itself whatever the variant (a tiny net is launch-bound, cured or not). A line that ends in
`# <- rule` is a label. `[first_sight]`: of a pair that somebody wrote after the rules without knowing a threshold,
whether the fault was `found` when they first saw it, and the `false` findings above low severity. It stays when rules
are changed for it.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from gpuprof.errors import GpuprofError

FOLDER = Path(__file__).resolve().parents[1] / "pairs"
GUARDS = ("exact", "numerics", "training")
SMALLEST = "mini"
HOST_SIZE = "cpu"
DEVICE_SIZES = ("host_bound", "balanced", "device_bound")
EXTRA_VARIANTS = ("negative", "masked", "double")

GAINS = ("time", "memory")

_KEYS = {"number", "title", "family", "rule", "guard", "shows_on", "published", "sizes"}
_OPTIONAL = {"variants", "whole_cell", "gain", "besides", "first_sight"}
_MARKER = re.compile(r"^# %% *(\w+) *$")
_LABEL = re.compile(r"# <- (\w+)\s*$")


class PairError(GpuprofError):
    """A pair's file is not as it should be."""


@dataclass(frozen=True)
class Label:
    """Where a rule should point: the line of the cell (from 1) that carries the mark."""

    line: int
    rule: str


@dataclass(frozen=True)
class Variant:
    """One profiled cell of a pair. `rules` may fire on it for good reason; `why` says what it is about."""

    name: str
    source: str
    rules: tuple[str, ...]
    labels: tuple[Label, ...]
    why: str = ""


@dataclass(frozen=True)
class FirstSight:
    """What the rules said before anything was changed for this pair: `false` names rules."""

    found: bool
    false: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """One fault and its cure. `sizes` maps a size to the values of `size` in the cells, `besides` a size to the rules
    that may fire there on every variant."""

    name: str
    title: str
    path: Path
    number: int
    family: str
    rules: tuple[str, ...]
    guard: str
    shows_on: str
    published: str
    sizes: Mapping[str, Mapping[str, Any]]
    setup: str
    variants: Mapping[str, Variant]
    whole_cell: bool = False
    gain: str = "time"
    besides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    first_sight: FirstSight | None = None

    @property
    def bad(self) -> Variant:
        """The cell with the fault."""
        return self.variants["bad"]

    @property
    def good(self) -> Variant:
        """The cell without it."""
        return self.variants["good"]

    def sizes_on(self, device: str) -> tuple[str, ...]:
        """The sizes that are meant for `cpu` or `cuda`."""
        if device == "cuda":
            return DEVICE_SIZES
        return (HOST_SIZE if HOST_SIZE in self.sizes else SMALLEST,)

    def scored_at(self, device: str) -> tuple[str, ...]:
        """Those of them at which this pair can be scored; empty where its fault costs nothing there."""
        return self.sizes_on(device) if device == "cuda" or self.shows_on == "cpu" else ()


@cache
def all_pairs() -> tuple[Pair, ...]:
    """Every pair of benchmarks/pairs, by its number in the list of pairs."""
    return tuple(sorted((load_pair(path) for path in FOLDER.rglob("*.py")), key=lambda pair: (pair.number, pair.name)))


def named_pairs(names: tuple[str, ...]) -> tuple[Pair, ...]:
    """The pairs of these names, all where none is named; PairError where one is unknown."""
    known = {pair.name: pair for pair in all_pairs()}
    if unknown := [name for name in names if name not in known]:
        raise PairError(f"{unknown[0]}: there is no such pair in {FOLDER.name}/; there are {', '.join(known)}")
    return tuple(known[name] for name in names) if names else tuple(known.values())


def load_pair(path: Path) -> Pair:
    """Read one pair; PairError, one line, where something is missing, unknown or contradicts itself."""
    text = path.read_text(encoding="utf-8")
    try:
        label = tomllib.loads(ast.get_docstring(ast.parse(text), clean=True) or "")
    except (tomllib.TOMLDecodeError, SyntaxError) as error:
        raise PairError(f"{path.name}: {error}") from error
    _check_keys(path, label)
    cells = _cells(path, text)
    extra = label.get("variants", {})
    rules = _names(label["rule"])
    setup = cells.pop("setup", "")
    if missing := [name for name in ("bad", "good", *extra) if name not in cells]:
        raise PairError(f"{path.name}: there is no cell `# %% {missing[0]}`")
    if unnamed := [name for name in cells if name not in ("bad", "good", *extra)]:
        raise PairError(f"{path.name}: the cell `# %% {unnamed[0]}` has no table [variants.{unnamed[0]}]")
    own = {"bad": rules, "good": ()}
    variants = {
        name: Variant(
            name,
            source,
            own[name] if name in own else _names(extra[name]["rules"]),
            _labels(source),
            extra.get(name, {}).get("why", ""),
        )
        for name, source in cells.items()
    }
    pair = Pair(
        name=path.stem,
        title=label["title"],
        path=path,
        number=int(label["number"]),
        family=label["family"],
        rules=rules,
        guard=label["guard"],
        shows_on=label["shows_on"],
        published=label["published"],
        sizes=label["sizes"],
        setup=setup,
        variants=variants,
        # other batches make other steps: only whole cells do the same work
        whole_cell=bool(label.get("whole_cell", label["guard"] == "training")),
        gain=label.get("gain", "time"),
        besides={size: _names(rules) for size, rules in label.get("besides", {}).items()},
        first_sight=_first_sight(path, label["first_sight"]) if "first_sight" in label else None,
    )
    _check_labels(pair)
    return pair


def _check_keys(path: Path, label: Mapping[str, Any]) -> None:
    if missing := sorted(_KEYS - set(label)):
        raise PairError(f"{path.name}: the docstring lacks {missing[0]!r}")
    if unknown := sorted(set(label) - _KEYS - _OPTIONAL):
        raise PairError(f"{path.name}: the docstring has the unknown key {unknown[0]!r}")
    for key, allowed in (("guard", GUARDS), ("shows_on", ("cpu", "cuda")), ("gain", GAINS)):
        if key in label and label[key] not in allowed:
            raise PairError(f"{path.name}: {key} = {label[key]!r}; expected one of {', '.join(allowed)}")
    if absent := [size for size in (SMALLEST, *DEVICE_SIZES) if size not in label["sizes"]]:
        raise PairError(f"{path.name}: there is no [sizes.{absent[0]}]")
    expected = set(label["sizes"][SMALLEST])
    for name, values in label["sizes"].items():
        if set(values) != expected:
            raise PairError(f"{path.name}: [sizes.{name}] and [sizes.{SMALLEST}] do not have the same names")
    for name, values in label.get("variants", {}).items():
        if name not in EXTRA_VARIANTS:
            raise PairError(f"{path.name}: [variants.{name}]; expected one of {', '.join(EXTRA_VARIANTS)}")
        if set(values) != {"rules", "why"}:
            raise PairError(f"{path.name}: [variants.{name}] needs `rules` and `why`, and nothing else")


def _first_sight(path: Path, label: Mapping[str, Any]) -> FirstSight:
    if set(label) != {"found", "false"} or not isinstance(label["found"], bool):
        raise PairError(f"{path.name}: [first_sight] needs `found`, true or false, and `false`, and nothing else")
    return FirstSight(label["found"], _names(label["false"]))


def _check_labels(pair: Pair) -> None:
    known = set(rule_names())
    for variant in pair.variants.values():
        for rule in (*variant.rules, *(label.rule for label in variant.labels)):
            if rule not in known:
                raise PairError(f"{pair.path.name}: {variant.name} names {rule!r}, which is no rule")
    for size, rules in pair.besides.items():
        if size not in pair.sizes or not known.issuperset(rules):
            raise PairError(f"{pair.path.name}: [besides] {size} = {list(rules)}; expected a size and names of rules")
    if pair.rules and not any(label.rule in pair.rules for label in pair.bad.labels):
        raise PairError(f"{pair.path.name}: no line of `bad` ends in `# <- {pair.rules[0]}`")
    if pair.good.labels:
        raise PairError(f"{pair.path.name}: line {pair.good.labels[0].line} of `good` carries a label")


@cache
def rule_names() -> tuple[str, ...]:
    """The name of every rule there is."""
    from gpuprof.rules.registry import all_rules

    return tuple(rule.name for rule in all_rules())


def _cells(path: Path, text: str) -> dict[str, str]:
    cells: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if marker := _MARKER.match(line):
            if marker[1] in cells:
                raise PairError(f"{path.name}: there are two cells `# %% {marker[1]}`")
            current = cells[marker[1]] = []
        else:
            current.append(line)
    return {name: "\n".join(lines).strip("\n") + "\n" for name, lines in cells.items()}


def _labels(source: str) -> tuple[Label, ...]:
    found = ((number, _LABEL.search(line)) for number, line in enumerate(source.splitlines(), start=1))
    return tuple(Label(number, match[1]) for number, match in found if match)


def _names(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
