"""A DataLoader that asks its dataset for a whole batch of indices, in place of sample by sample."""

from __future__ import annotations

import libcst as cst

from gpuprof.code_edits.data.loaders import made_once
from gpuprof.code_edits.syntax import matching as m
from gpuprof.code_edits.syntax.keywords import is_open, keyword_of, with_keyword, without_keyword
from gpuprof.code_edits.syntax.statements import at_head
from gpuprof.code_edits.syntax.tree import CellTree, Changes

_POSITIONS = ("dataset", "batch_size", "shuffle")
# what has a meaning of its own for batches is left alone
_KNOWN = (
    *_POSITIONS,
    *("drop_last", "num_workers", "pin_memory", "pin_memory_device", "persistent_workers", "prefetch_factor"),
    *("timeout", "generator"),
)
_ASKED = ("batch_size", "sampler", "batch_sampler", "drop_last", "collate_fn")
_SAMPLERS = ("BatchSampler", "RandomSampler", "SequentialSampler")


def fetch_whole_batches(source: str, line: int) -> str | None:
    """The DataLoader that the statement at `line` iterates, with `batch_size=None` and a `BatchSampler`.

    It then asks for `dataset[[3, 1, 2]]` and collates nothing; the indices and their order stay. That gives the same
    only where indexing the dataset with a list gives what collating its samples gives, as a `TensorDataset` does: the
    caller compares the batches. None where the loader has a sampler or collate function of its own, or the cell
    asks the loader for what then differs (`loader.batch_size`).
    """
    tree = CellTree.of(source)
    call = made_once(tree, line) if tree else None
    given = _given(call) if call else None
    if tree is None or call is None or given is None or _is_asked(tree, call):
        return None
    dataset, size = _indexed(given["dataset"]), given.get("batch_size")
    shuffle = tree.code(given["shuffle"]) if "shuffle" in given else "False"
    if not isinstance(given.get("generator", dataset), cst.Name | cst.Attribute):
        return None
    if dataset is None or size is None or m.matches(size, m.Name("None")) or shuffle not in ("True", "False"):
        return None
    names = ("BatchSampler", "RandomSampler" if shuffle == "True" else "SequentialSampler")
    prefix, imported = _prefix(tree, call, names)
    if prefix is None:
        return None
    last = tree.code(given["drop_last"]) if "drop_last" in given else "False"
    # the loader draws its seed first, the sampler after it: they share the generator as before
    drawn = f", generator={tree.code(given['generator'])}" if "generator" in given and shuffle == "True" else ""
    order = f"{prefix}{names[1]}({tree.code(dataset)}{drawn})"
    sampler = f"{prefix}BatchSampler({order}, {tree.code(size)}, drop_last={last})"
    return tree.changed(imported | {call: lambda made: _whole(made, sampler)})


def _given(call: cst.Call) -> dict[str, cst.BaseExpression] | None:
    """What it is given, by name; None where it is given anything else than is known here."""
    found: dict[str, cst.BaseExpression] = {}
    for at, arg in enumerate(call.args):
        name = arg.keyword.value if arg.keyword is not None else None
        if name is None:
            if at >= len(_POSITIONS):
                return None
            name = _POSITIONS[at]
        if name not in _KNOWN:
            return None
        found[name] = arg.value
    return found if "dataset" in found and not is_open(call) else None


def _indexed(dataset: cst.BaseExpression) -> cst.BaseExpression | None:
    """What has the dataset's length and can be named twice: its name, or the first tensor of a `TensorDataset`."""
    if isinstance(dataset, cst.Name | cst.Attribute):
        return dataset
    tensors = m.Name("TensorDataset") | m.Attribute(attr=m.Name("TensorDataset"))
    first = dataset.args[0] if isinstance(dataset, cst.Call) and dataset.args else None
    plain = first is not None and not first.star and isinstance(first.value, cst.Name)
    return first.value if first is not None and plain and m.matches(dataset, m.Call(func=tensors)) else None


def _is_asked(tree: CellTree, call: cst.Call) -> bool:
    """Whether the cell asks the loader, by the name it is bound to, for what the change alters."""
    assign = tree.nearest(call, cst.Assign, cst.AnnAssign)
    targets: list[cst.CSTNode] = []
    if isinstance(assign, cst.Assign):
        targets = [each.target for each in assign.targets]
    elif isinstance(assign, cst.AnnAssign):
        targets = [assign.target]
    names = {name.value for each in targets for name in tree.names(each)}
    asked = m.Attribute(value=m.Name(), attr=m.OneOf(*(m.Name(each) for each in _ASKED)))
    return any(each.value.value in names for each in tree.all(asked))


def _prefix(tree: CellTree, call: cst.Call, names: tuple[str, ...]) -> tuple[str | None, Changes]:
    """What stands before the samplers' names, and the import that they need; None where a name is the user's own."""
    if isinstance(call.func, cst.Attribute):
        return f"{tree.code(call.func.value)}.", {}
    bound = m.AssignTarget(m.OneOf(*(m.Name(each) for each in _SAMPLERS)))
    if tree.all(bound | m.ClassDef(m.OneOf(*(m.Name(each) for each in _SAMPLERS)))):
        return None, {}
    added = at_head(tree, f"from torch.utils.data import {', '.join(names)}")
    return (None, {}) if added is None or call in added else ("", added)


def _whole(call: cst.Call, sampler: str) -> cst.Call:
    """Its size and order by keyword, where they were by position too."""
    named = [
        arg
        if arg.keyword is not None or at == 0
        else arg.with_changes(
            keyword=cst.Name(_POSITIONS[at]), equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        )
        for at, arg in enumerate(call.args)
    ]
    made = call.with_changes(args=named)
    if keyword_of(made, "shuffle") is not None:
        made = without_keyword(made, "shuffle")
    if keyword_of(made, "drop_last") is not None:
        made = without_keyword(made, "drop_last")
    return with_keyword(with_keyword(made, "batch_size", "None"), "sampler", sampler)
