"""What the names in the user's code stood for while the cell ran: kinds and sizes, never values."""

from __future__ import annotations

import msgspec


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """One name that is read in the lines `first` to `last` (from 1) of `file`: of a function, or of one statement
    outside of any. `name`: as it is written, with attributes (`self.frame`). `file`: the name of the code's file, also
    that of the profiled cell.

    `kind`: the type with its module (`builtins.list`, `pandas.core.frame.DataFrame`); of a function or a class the name
    by which it is known (`copy.deepcopy`), with `callable`. `items`: of a list, tuple or deque the kind of its first
    item, empty where it has none. `parts`: where that item is a tuple, a list or a dict, the kinds of its first parts,
    by their place (`0`) or their key (`'wave'`) as it is written; only keys that could be names. `looks`: how often it
    was seen so. `least`, `most`: its lengths then (rows of a table, elements along the first axis of an array), None
    for what has none. `holds`: of an object of any other kind the length of the largest container among its
    attributes. `same`: the object was the same one in all looks. `fewest_elements`, `most_elements`: of a tensor, an
    array or a table, along all its axes. `sizes`: of one that was longer and longer from look to look, now and then
    begun anew, its length or elements with the Unix time in ns, in order; empty for any other.
    """

    file: str
    first: int
    last: int
    name: str
    kind: str
    looks: int = 1
    callable: bool = False
    least: int | None = None
    most: int | None = None
    holds: int | None = None
    same: bool = True
    items: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    fewest_elements: int | None = None
    most_elements: int | None = None
    sizes: tuple[tuple[int, int], ...] = ()


class MadeValue(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that one statement or more give a value to: of the function `function` whose first line is `first` in
    `file`, or of the code of a cell (`<module>`).

    `looks`: how often it had a value. `made` different objects were seen in it, with `contents` different contents;
    `contents` is 0 where it was not looked into. `bytes`: of the largest. `told`: contents have so many different
    numbers that they are not alike by chance. `subnormal_looks`: how often 1% or more of its numbers were subnormal
    (too near to zero for the usual form), in `subnormal_share` of the looks at them; `double`: those were of float64;
    `times_slower`: how many times as long the cell's thread took for a product of such numbers as of normal ones, 0
    where there were none.
    """

    file: str
    function: str
    first: int
    name: str
    kind: str
    looks: int
    made: int
    contents: int
    bytes: int = 0
    told: bool = False
    subnormal_looks: int = 0
    subnormal_share: float = 0.0
    double: bool = False
    times_slower: float = 0.0


class Operands(msgspec.Struct, frozen=True, kw_only=True):
    """`looks` of the cell's thread, over all of it, that took `cost_ns`; `seen` in them."""

    looks: int = 0
    cost_ns: int = 0
    seen: tuple[Operand, ...] = ()
