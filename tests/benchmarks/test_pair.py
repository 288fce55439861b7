from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.proving.pair import FOLDER, FirstSight, Label, PairError, load_pair, named_pairs

SIZES = "\n".join(f"[sizes.{name}]\nsteps = 1\n" for name in ("mini", "host_bound", "balanced", "device_bound"))
HEAD = f'''"""
number = 12
title = "Made"
family = "host_syncs"
rule = "sync_in_step"
guard = "exact"
shows_on = "cuda"
published = "nobody"
{SIZES}
"""
'''
CELLS = "# %% setup\nx = 1\n\n# %% bad\n\ny = 2\nz = x  # <- sync_in_step\n\n# %% good\nz = 3\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "made.py"
    path.write_text(text)
    return path


def test_a_pair_is_read(tmp_path: Path) -> None:
    pair = load_pair(written(tmp_path, HEAD + CELLS))
    assert (pair.name, pair.number, pair.rules, pair.setup) == ("made", 12, ("sync_in_step",), "x = 1\n")
    assert pair.bad.source == "y = 2\nz = x  # <- sync_in_step\n"
    assert pair.bad.labels == (Label(2, "sync_in_step"),)
    assert pair.good.rules == () and pair.good.labels == ()


def test_a_fault_that_only_costs_on_a_device_is_not_scored_without_one(tmp_path: Path) -> None:
    pair = load_pair(written(tmp_path, HEAD + CELLS))
    assert pair.scored_at("cpu") == ()
    assert pair.scored_at("cuda") == ("host_bound", "balanced", "device_bound")


def test_a_size_for_the_cpu_is_scored_instead_of_the_mini_one(tmp_path: Path) -> None:
    head = HEAD.replace('"cuda"', '"cpu"')
    assert load_pair(written(tmp_path, head + CELLS)).scored_at("cpu") == ("mini",)
    longer = head.replace("[sizes.balanced]", "[sizes.cpu]\nsteps = 9\n[sizes.balanced]")
    assert load_pair(written(tmp_path, longer + CELLS)).scored_at("cpu") == ("cpu",)


def test_what_was_said_at_first_sight_is_kept(tmp_path: Path) -> None:
    sight = '[first_sight]\nfound = true\nfalse = ["input_stall"]\n[sizes.balanced]'
    pair = load_pair(written(tmp_path, HEAD.replace("[sizes.balanced]", sight) + CELLS))
    assert pair.first_sight == FirstSight(True, ("input_stall",))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('guard = "exact"', 'guard = "loose"', "guard = 'loose'; expected one of exact"),
        ("published", "publshed", "lacks 'published'"),
        ("number = 12", "number = 12\ncolour = 1", "unknown key 'colour'"),
        ("number = 12", "number =", "made.py: Invalid value"),
        ("# %% good", "# good", "no cell `# %% good`"),
        ("# %% good", "# %% better", "no cell `# %% good`"),
        ("# %% good", "# %% odd\n# %% good", r"\[variants.odd\]"),
        ("# %% good", "# %% bad\n# %% good", "two cells `# %% bad`"),
        ("# <- sync_in_step", "# <- sync_in_stp", "names 'sync_in_stp', which is no rule"),
        ("  # <- sync_in_step", "", "no line of `bad` ends in"),
        ("z = 3", "z = 3  # <- sync_in_step", "line 1 of `good` carries a label"),
        ("[sizes.balanced]\nsteps = 1", "[sizes.balanced]\nstep = 1", "do not have the same names"),
        ("[sizes.balanced]", "[sizes.level]", "no .sizes.balanced."),
    ],
)
def test_what_is_wrong_with_a_pair_is_said_in_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = HEAD + CELLS
    assert old in text
    with pytest.raises(PairError, match=said) as caught:
        load_pair(written(tmp_path, text.replace(old, new)))
    assert "\n" not in str(caught.value)


def test_what_is_right_about_the_workload_itself_is_no_label_of_the_fault(tmp_path: Path) -> None:
    head = HEAD.replace('\n"""\n', '\n[besides]\nhost_bound = ["launch_bound"]\n"""\n')
    pair = load_pair(written(tmp_path, head + CELLS))
    assert pair.besides == {"host_bound": ("launch_bound",)}
    assert (pair.rules, pair.good.rules) == (("sync_in_step",), ())
    for old, new in (("host_bound =", "huge ="), ("launch_bound", "lunch_bound")):
        with pytest.raises(PairError, match="expected a size and names of rules"):
            load_pair(written(tmp_path, head.replace(old, new) + CELLS))


def test_a_fault_that_no_rule_knows_needs_no_label(tmp_path: Path) -> None:
    text = (HEAD + CELLS).replace('"sync_in_step"', "[]").replace("  # <- sync_in_step", "")
    assert load_pair(written(tmp_path, text)).rules == ()


def test_variants_need_a_reason(tmp_path: Path) -> None:
    head = HEAD.replace('\n"""\n', '\n[variants.masked]\nrules = []\n"""\n')
    with pytest.raises(PairError, match="needs `rules` and `why`"):
        load_pair(written(tmp_path, head + CELLS + "# %% masked\nz = 4\n"))


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(PairError, match=f"no such pair in {FOLDER.name}/; there are"):
        named_pairs(("nothing",))
