"""Which settings of a cell are tried, from its text and what the run knows of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.model.context import Environment, Loader, Optimizer
from gpuprof.rules.base.guard import FUSED_TOLERANCE, Guard
from gpuprof.verification.tuning.facts import CellFacts, _cores
from gpuprof.verification.tuning.offers import offers, unknown_groups
from gpuprof.verification.tuning.setting import CHANGING, GROUPS, Candidates, Setting

CELL = """\
# %%gpuprofile
import torch
from torch.utils.data import DataLoader

loader = DataLoader(data, batch_size=16, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(8, 4))
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    x, y = x.to("cuda"), y.to("cuda")
    loss = criterion(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
LOADER = Loader(workers=0, batch_size=16, batches=4, samples=64, iterable=False, line=8)
ITERABLE = Loader(workers=0, batch_size=16, iterable=True, line=8)
ADAM = Optimizer(name="Adam", parameters=2, elements=36, device="cpu", line=13)
FACTS = CellFacts(CELL, (LOADER,), (ADAM,), frozenset({"model"}), cores=4, threads=4, forks=True, has_bfloat16=True)


def names(facts: CellFacts, **options: object) -> list[str]:
    return [name for (name,) in Candidates(facts.source, offers(facts, **options)).singles]  # type: ignore[arg-type]


def on_device(facts: CellFacts = FACTS) -> CellFacts:
    adam = Optimizer(name="Adam", parameters=2, elements=36, device="cuda:0", line=13)
    return replace(facts, on_device=True, has_tf32=True, optimizers=(adam,))


def text(facts: CellFacts, *wanted: str, allow_changing: bool = False) -> str:
    """The cell with these settings, made one after the other."""
    candidates = Candidates(facts.source, offers(facts, allow_changing=allow_changing))
    entry: tuple[str, ...] | None = ()
    for name in wanted:
        assert entry is not None
        entry = candidates.together(entry, (name,))
    assert entry == wanted
    return candidates.text(entry)


def test_on_the_cpu() -> None:
    assert names(FACTS) == [
        "batches fetched whole",
        *(f"num_workers={count}, persistent_workers=True" for count in (1, 2, 4)),
        *(f"set_num_threads({count})" for count in (2, 1)),
        "fused=True",
    ]


def test_on_a_device() -> None:
    found = names(replace(on_device(), convolves=True, compiles=True))
    assert {"pin_memory=True, non_blocking=True", "channels_last", "cudnn.benchmark", "model.compile()"} <= set(found)
    assert [name for name in found if name.startswith("set_num_threads")] == ["set_num_threads(1)"]


def test_what_changes_results_only_where_that_is_allowed() -> None:
    changing = {"bfloat16 autocast", "TF32 products"}
    assert not changing & set(names(on_device())) and changing <= set(names(on_device(), allow_changing=True))
    assert {each.name for each in offers(on_device(), allow_changing=True) if each.changes_results} == changing
    assert set(CHANGING) == {"autocast", "tf32"}


def test_each_has_the_guard_of_the_rule_with_the_same_change() -> None:
    made = {
        each.group: each for each in offers(replace(on_device(), convolves=True, compiles=True), allow_changing=True)
    }
    numeric = {group for group, each in made.items() if each.guard is Guard.NUMERIC}
    assert numeric == {"layout", "convolutions", "compile", "autocast", "tf32"} and set(made) == set(GROUPS)
    assert made["optimizer"].tolerance == FUSED_TOLERANCE and made["workers"].guard is Guard.EXACT


def test_only_names_groups() -> None:
    assert names(FACTS, only=["threads", "optimizer"]) == ["set_num_threads(2)", "set_num_threads(1)", "fused=True"]
    assert unknown_groups(["threads", "wokers"]) == ["wokers"]


@pytest.mark.parametrize(
    ("facts", "missing"),
    [
        (replace(FACTS, loaders=(ITERABLE,)), "num_workers"),
        (replace(FACTS, forks=False), "num_workers"),
        (replace(FACTS, loaders=()), "batches fetched whole"),
        (replace(FACTS, source=CELL.replace("loader = D", "# D")), "batches fetched whole"),
        (replace(FACTS, optimizers=()), "fused"),
        (replace(FACTS, optimizers=(structs.replace(ADAM, floating=False),)), "fused"),
        (replace(FACTS, cores=1, threads=1), "set_num_threads"),
    ],
)
def test_what_cannot_be_is_not_tried(facts: CellFacts, missing: str) -> None:
    assert names(facts) and not [name for name in names(facts) if missing in name]


def test_settings_that_need_workers_wait_for_them() -> None:
    candidates = Candidates(CELL, offers(FACTS))
    assert ("prefetch_factor=4",) in candidates.later
    with_both = text(FACTS, "num_workers=2, persistent_workers=True", "prefetch_factor=4")
    assert "shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=4)" in with_both


def test_workers_that_are_there_are_varied() -> None:
    source = CELL.replace("shuffle=True", "shuffle=True, num_workers=2")
    loader = Loader(workers=2, batch_size=16, samples=64, iterable=False, line=8, prefetch_factor=2)
    found = names(replace(FACTS, source=source, loaders=(loader,)))
    assert [name for name in found if "workers" in name] == [
        "num_workers=1, persistent_workers=True",
        "num_workers=4, persistent_workers=True",
        "num_workers=0",
        "persistent_workers=True",
    ]
    assert "prefetch_factor=4" in found


def test_together_they_are_one_text_wherever_their_places_moved() -> None:
    after = text(
        on_device(),
        *("set_num_threads(1)", "batches fetched whole", "pin_memory=True, non_blocking=True", "fused=True"),
        *("TF32 products", "bfloat16 autocast"),
        allow_changing=True,
    )
    for line in (
        "torch.set_num_threads(1)",
        "loader = DataLoader(data, batch_size=None, sampler=BatchSampler(RandomSampler(data), 16, drop_last=False), "
        "pin_memory=True)",
        "opt = torch.optim.Adam(model.parameters(), fused=True)",
        '    x, y = x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)',
        '    with torch.autocast("cuda", dtype=torch.bfloat16):',
    ):
        assert f"{line}\n" in after, after
    compile(after, "<cell>", "exec")


def test_two_of_one_group_exclude_each_other() -> None:
    candidates = Candidates(CELL, offers(FACTS))
    assert candidates.together(("set_num_threads(1)",), ("set_num_threads(2)",)) is None
    assert candidates.together(("set_num_threads(1)",), ("set_num_threads(1)",)) is None


def test_an_edit_that_fails_or_changes_nothing_is_no_candidate() -> None:
    def fails(source: str) -> str:
        raise RecursionError

    made = Candidates("x = 1\n", [Setting("a", "threads", fails), Setting("b", "layout", lambda source: source)])
    assert made.singles == [] and made.later == [("a",), ("b",)]


def test_all_loaders_of_a_cell_are_set() -> None:
    cell = "a = DataLoader(one, 4)\nb = DataLoader(two, 4)\nfor x in a:\n    pass\nfor x in b:\n    pass\n"
    loaders = [Loader(workers=0, batch_size=4, samples=8, iterable=False, line=line) for line in (3, 5)]
    after = text(replace(FACTS, source=cell, loaders=tuple(loaders)), "num_workers=1, persistent_workers=True")
    assert after.count("num_workers=1") == 2


def test_cores_are_those_that_this_process_may_use() -> None:
    assert _cores(None) == 1 and _cores(Environment(cores_allowed=8, cores_limit=2.5)) == 2
    assert _cores(Environment(cores_allowed=4)) == 4
