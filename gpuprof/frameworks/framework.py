"""What each file of this room holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Subject(StrEnum):
    """Whose maker or driver the framework has to be for a change in its words."""

    LOADER = "loader"
    OPTIMIZER = "optimizer"
    RUN = "run"


@dataclass(frozen=True)
class Change:
    """A change in the framework's words. `text` is one or two sentences.

    `of`: the import path of the function, class or method that takes the arguments in `text` (`name=`): a test compares
    them with its signature. Empty where the arguments are torch's. `replaces`: a regular expression for the part of the
    general advice that `text` stands for, and `\\g<name>` in `text` is what its groups found. Empty: `text` stands
    before that advice.
    """

    text: str
    of: str = ""
    replaces: str = ""
    subject: Subject = Subject.RUN


@dataclass(frozen=True)
class OwnOptimizer:
    """An optimizer class that is not torch's: `module`, `name`, and the `method` that makes a step.

    `parameters` and `state`: the attributes that hold its parameters and what it keeps of each: tensors, or variables
    with a `value`, in lists, dictionaries, or several levels of them.
    """

    module: str
    name: str
    method: str
    parameters: str
    state: str


@dataclass(frozen=True)
class Framework:
    """`package` is the top-level module, `title` the name in sentences.

    `evaluates`: files from the package on, with the functions that evaluate (none: all functions of the file).
    `words`: by major version and then by rule; other versions get the general advice.
    """

    package: str
    title: str
    evaluates: tuple[tuple[str, tuple[str, ...]], ...] = ()
    optimizers: tuple[OwnOptimizer, ...] = ()
    words: Mapping[int, Mapping[str, Change]] = field(default_factory=dict)

    def change(self, rule: str, version: str) -> Change | None:
        """Its words for a rule's change, None where it has none for that version."""
        major = version.partition(".")[0]
        return self.words.get(int(major), {}).get(rule) if major.isdecimal() else None

    def evaluates_in(self, filename: str, function: str) -> bool:
        """Whether that function evaluates; `filename` from the package on."""
        bare = function.rsplit(".", 1)[-1]
        return any(filename == file and (not names or bare in names) for file, names in self.evaluates)
