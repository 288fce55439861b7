"""One setting of a cell that can be tried: an edit of its text, and how far it may move what the cell computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpuprof.rules.base.guard import EXACT_TOLERANCE, Guard
from gpuprof.verification.tuning.search import Entry

# by which `--only` names them
GROUPS: Mapping[str, str] = {
    "batches": "batches fetched whole",
    "workers": "DataLoader workers",
    "prefetch": "batches that workers prepare ahead",
    "pinning": "pinned memory, and copies that do not block",
    "threads": "threads of torch on the CPU",
    "optimizer": "fused optimizer",
    "layout": "channels-last layout",
    "convolutions": "cuDNN tries out algorithms",
    "compile": "torch.compile",
    "autocast": "bfloat16 autocast",
    "tf32": "TF32 products",
}
CHANGING = ("autocast", "tf32")  # results, beyond what rounding does


@dataclass(frozen=True)
class Setting:
    """`edit` makes it in the text of a cell, wherever its places have moved; None where it has none.

    Of one group at most one setting holds. `guard` and `tolerance` are those of the rule with the same change.
    """

    name: str
    group: str
    edit: Callable[[str], str | None]
    guard: Guard = Guard.EXACT
    tolerance: float = EXACT_TOLERANCE

    @property
    def changes_results(self) -> bool:
        """Whether it is tried only where that is allowed."""
        return self.group in CHANGING


class Candidates:
    """The settings that can be made in this cell, each alone, and any of them together as one text."""

    def __init__(self, source: str, settings: list[Setting]):
        self.source = source
        self._settings = {each.name: each for each in settings}
        self._sources: dict[Entry, str] = {(): source}
        self.singles: list[Entry] = []
        self.later: list[Entry] = []
        for each in settings:
            entry = (each.name,)
            changed = _edited(each, source)
            if changed is None:
                self.later.append(entry)
            elif changed not in self._sources.values():
                self._sources[entry] = changed
                self.singles.append(entry)

    def settings(self, entry: Entry) -> list[Setting]:
        """In the order in which they were made."""
        return [self._settings[name] for name in entry]

    def text(self, entry: Entry) -> str:
        """The cell with them; KeyError for what was never made."""
        return self._sources[entry]

    def together(self, entry: Entry, other: Entry) -> Entry | None:
        """An entry with both, made one after the other; None where two are of one group, or one finds no place."""
        made = entry
        for setting in self.settings(other):
            if setting.group in {each.group for each in self.settings(made)}:
                return None
            changed = _edited(setting, self._sources[made])
            if changed is None:
                return None
            made = (*made, setting.name)
            self._sources[made] = changed
        return made

    def guard(self, entry: Entry) -> Guard:
        """The widest of its settings' guards."""
        order = (Guard.EXACT, Guard.NUMERIC, Guard.SEMANTIC)
        return max((each.guard for each in self.settings(entry)), key=order.index, default=Guard.EXACT)

    def tolerance(self, entry: Entry) -> float:
        """The widest of its settings' tolerances."""
        return max((each.tolerance for each in self.settings(entry)), default=EXACT_TOLERANCE)


def _edited(setting: Setting, source: str) -> str | None:
    try:
        changed = setting.edit(source)
    except Exception:  # noqa: BLE001 - the boundary to the syntax tree: the other settings can be tried without this one
        return None
    return None if changed == source else changed
