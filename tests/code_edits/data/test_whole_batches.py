from __future__ import annotations

import pytest

from gpuprof.code_edits.data.whole_batches import fetch_whole_batches
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, line_of, run

SHUFFLED = TRAINING.replace("batch_size = 16 ,", "batch_size = 16, shuffle=True")
SEEDED = TRAINING.replace("batch_size = 16 ,", "batch_size = 16, shuffle=True, generator=g")
LOOP = line_of(TRAINING, "for x, y in loader")


@pytest.mark.parametrize(
    "cell",
    [
        TRAINING,
        SHUFFLED,
        SHUFFLED.replace("shuffle=True", "shuffle=True, drop_last=True"),
        SEEDED.replace("# one epoch   (odd   spacing, kept)", "g = torch.Generator().manual_seed(3)"),
    ],
)
def test_the_cell_gives_the_same(cell: str) -> None:
    after = fetch_whole_batches(cell, LOOP)
    assert after is not None and "sampler=BatchSampler(" in after and ", 16, drop_last=" in after
    assert_rest_is_kept(cell, after)
    assert run(after)["losses"] == run(cell)["losses"]


@pytest.mark.parametrize(
    ("made", "becomes"),
    [
        (
            "DataLoader(data, 4, True)",
            "DataLoader(data, batch_size=None, sampler=BatchSampler(RandomSampler(data), 4, drop_last=False))",
        ),
        (
            "torch.utils.data.DataLoader(data, batch_size=n, shuffle=False, num_workers=0)",
            "torch.utils.data.DataLoader(data, batch_size=None, num_workers=0, "
            "sampler=torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(data), n, drop_last=False))",
        ),
        (
            "DataLoader(TensorDataset(x, y), batch_size=4)",
            "DataLoader(TensorDataset(x, y), batch_size=None, "
            "sampler=BatchSampler(SequentialSampler(x), 4, drop_last=False))",
        ),
        (
            "DataLoader(data, 4, True, generator=g)",
            "DataLoader(data, batch_size=None, generator=g, "
            "sampler=BatchSampler(RandomSampler(data, generator=g), 4, drop_last=False))",
        ),
        (
            "DataLoader(data, batch_size=4, generator=g)",
            "DataLoader(data, batch_size=None, generator=g, "
            "sampler=BatchSampler(SequentialSampler(data), 4, drop_last=False))",
        ),
    ],
)
def test_however_the_loader_is_made(made: str, becomes: str) -> None:
    names = "x = y = torch.ones(8, 2)\nn = 4\ng = torch.Generator()\n"
    cell = f"{names}loader = {made}\nfor batch in loader:  # here\n    pass\n"
    after = fetch_whole_batches(cell, line_of(cell, "# here"))
    assert after is not None and becomes in after
    run(after)


def test_the_loader_has_as_many_batches() -> None:
    cell = "loader = DataLoader(data, batch_size=10)\nfor x in loader:  # here\n    pass\ncount = len(loader)\n"
    after = fetch_whole_batches(cell, line_of(cell, "# here"))
    assert after is not None and run(after)["count"] == run(cell)["count"] == 7


@pytest.mark.parametrize(
    "made",
    [
        "DataLoader(data)",
        "DataLoader(data, batch_size=None)",
        "DataLoader(data, batch_size=4, shuffle=mixed)",
        "DataLoader(data, batch_size=4, sampler=mine)",
        "DataLoader(data, batch_size=4, collate_fn=mine)",
        "DataLoader(data, batch_size=4, generator=make())",
        "DataLoader(make(), batch_size=4)",
        "DataLoader(data, 4, True, None)",
        "DataLoader(data, **options)",
    ],
)
def test_doubt_gives_no_change(made: str) -> None:
    cell = f"loader = {made}\nfor x in loader:  # here\n    pass\n"
    assert fetch_whole_batches(cell, line_of(cell, "# here")) is None


@pytest.mark.parametrize("asked", ["loader.batch_size", "loader.sampler", "loader.batch_sampler.sampler"])
def test_not_where_the_cell_asks_the_loader_for_what_differs(asked: str) -> None:
    cell = f"loader = DataLoader(data, batch_size=4)\nfor x in loader:  # here\n    print({asked})\n"
    assert fetch_whole_batches(cell, line_of(cell, "# here")) is None
    other = cell.replace(asked, "options.batch_size")
    assert fetch_whole_batches(other, line_of(other, "# here")) is not None


def test_not_where_a_name_is_the_users_own() -> None:
    cell = "class BatchSampler: ...\nloader = DataLoader(data, batch_size=4)\nfor x in loader:  # here\n    pass\n"
    assert fetch_whole_batches(cell, line_of(cell, "# here")) is None
