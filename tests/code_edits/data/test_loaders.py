from __future__ import annotations

import pytest

from gpuprof.code_edits.data.loaders import copy_without_blocking, pin_batches, set_for_workers, set_loader
from tests.code_edits.executed import TRAINING, assert_rest_is_kept, line_of, run

LOOP = line_of(TRAINING, "for x, y in loader")


def test_workers_are_set_and_the_cell_gives_the_same() -> None:
    after = set_loader(TRAINING, LOOP, num_workers="1", persistent_workers="True")
    assert after is not None and "DataLoader(data,batch_size = 16 ,num_workers=1 ,persistent_workers=True ,)" in after
    assert_rest_is_kept(TRAINING, after)
    assert run(after)["losses"] == run(TRAINING)["losses"]


@pytest.mark.parametrize(
    "cell",
    [
        "loader = DataLoader(data)\nfor i, (x, y) in enumerate(loader):  # here\n    pass\n",
        "import torch.utils.data as d\nloader = d.DataLoader(data)\nfor x, y in loader:  # here\n    pass\n",
        "from torch.utils.data import DataLoader as L\nl: L = L(data)\nbatches = [b for b in l]  # here\n",
        "train, other = DataLoader(data), 3\nfor x, y in train:  # here\n    pass\n",
        "for x, y in DataLoader(data):  # here\n    pass\n",
        "def epoch(l, n):\n    for x, y in l:  # here\n        pass\nepoch(DataLoader(data), n=1)\n",
        "def epoch(n, l=None):\n    for x, y in l:  # here\n        pass\nq = DataLoader(data)\nepoch(1, l=q)\n",
        "class T:\n  def go(self):\n    self.l = DataLoader(data)\n    for x in self.l: pass  # here\nT().go()\n",
        "loader = DataLoader(data)\nx, y = next(iter(loader))  # here\n",
        "tqdm = list\nbar = tqdm(DataLoader(data))\nfor x, y in bar:  # here\n    pass\n",
        "l = DataLoader(data)\nbar = enumerate(iter(l))\nfor i, (x, y) in bar:  # here\n    pass\n",
        "class T:\n  def __init__(self, l):\n    self.l = l\n  def go(self):\n    for x in self.l: pass  # here\n"
        "T(DataLoader(data)).go()\n",
    ],
)
def test_the_loader_is_found_from_the_line_that_iterates_it(cell: str) -> None:
    after = set_loader(cell, line_of(cell, "# here"), batch_size="7")
    assert (
        after is not None and after.count("DataLoader(data, batch_size=7)") + after.count("L(data, batch_size=7)") == 1
    )
    assert_rest_is_kept(cell, after)
    run(after)


@pytest.mark.parametrize(
    "cell",
    [
        "for x in loader:  # here\n    pass\n",
        "loader = make()\nfor x in loader:  # here\n    pass\n",
        "from mine import DataLoader\nloader = DataLoader(data)\nfor x in loader:  # here\n    pass\n",
        "class DataLoader: ...\nloader = DataLoader(data)\nfor x in loader:  # here\n    pass\n",
        "if a:\n    loader = DataLoader(b)\nelse:\n    loader = DataLoader(c)\nfor x in loader:  # here\n    pass\n",
        "loader = DataLoader(a)\nloader = tqdm(loader)\nfor x in loader:  # here\n    pass\n",
        "for e in range(3):\n    loader = DataLoader(a)\n    for x in loader:  # here\n        pass\n",
        "def f():\n    for x in DataLoader(a):  # here\n        pass\nfor e in range(3):\n    f()\n",
        "loader = DataLoader(data, **options)\nfor x in loader:  # here\n    pass\n",
        "loader = DataLoader(data, 1, True, None, None, 2)\nfor x in loader:  # here\n    pass\n",
        "a, b = DataLoader(c), DataLoader(d)\nfor x, y in zip(a, b):  # here\n    pass\n",
        "def f(l):\n    for x in l:  # here\n        pass\nf(DataLoader(a))\nf(DataLoader(b))\n",
        "def f(l):\n    for x in l:  # here\n        pass\ng = f\ng(DataLoader(a))\n",
        "loader = DataLoader(data)\nwith open(name) as loader:\n    pass\nfor x in loader:  # here\n    pass\n",
        "for x in loader:  # here\n    if broken\n",
    ],
)
def test_doubt_gives_no_change(cell: str) -> None:
    assert set_loader(cell, line_of(cell, "# here"), num_workers="2") is None


def test_no_workers_where_the_cell_chooses_how_they_start() -> None:
    for chosen in ("multiprocessing_context='spawn'", "drop_last=mp.set_start_method('spawn')"):
        assert set_loader(TRAINING.replace("batch_size = 16 ,", chosen), LOOP, num_workers="2") is None


def test_loader_and_copies_change_together() -> None:
    after = pin_batches(TRAINING, [LOOP])
    assert after is not None
    assert "pin_memory=True" in after
    assert "x.to(device, non_blocking=True), y.to(device, non_blocking=True)" in after
    assert_rest_is_kept(TRAINING, after)
    assert run(after)["losses"] == run(TRAINING)["losses"]


HEAD = "loader = DataLoader(data, 16)\n"


@pytest.mark.parametrize(
    ("body", "copies"),
    [
        ("for x, y in loader:\n    x = x.to(device)\n    y = y.cpu()\n", 1),
        ("for i, batch in enumerate(loader):\n    x, y = batch\n    x, y = x.to(device), y.to(device)\n", 2),
        ("for batch in loader:\n    x, y = [t.to(device) for t in batch]\n", 1),
        ("for batch in loader:\n    x = batch[0].to(device).float()\n", 1),
        ("for x, y in loader:\n    h = x.flatten(1).to(device)\n    y = y.to(device)\n", 1),
        ("for x, y in loader:\n    x = x.to(torch.float64).to(device)\n    y = y.to(device)\n", 1),
        ("for x, y in loader:\n    x = x.float()\n    x = x.to(device)\n    y = y.to(device)\n", 1),
        ("for x, y in loader:\n    d = x.to(device)\n    x.zero_()\n    y = y.to(device)\n", 1),
        ("for x, y in loader:\n    print(x.to(device=device).sum(), y.to(device).sum())\n", 1),
    ],
)
def test_only_what_the_loader_gave_is_copied_without_blocking(body: str, copies: int) -> None:
    after = pin_batches(HEAD + body, [2])
    assert after is not None and after.count("non_blocking=True") == copies
    run(after)


def test_copies_of_a_dictionary() -> None:
    cell = HEAD + "for batch in loader:\n    batch = {k: v.to(device) for k, v in batch.items()}\n"
    after = pin_batches(cell, [2])
    assert after is not None and "{k: v.to(device, non_blocking=True) for k, v in batch.items()}" in after


@pytest.mark.parametrize(
    "cell",
    [
        HEAD + "for x, y in loader:\n    x = x + 1\n    x = x.to(device)\n",
        HEAD + "for x, y in loader:\n    model(x)\n",
        HEAD + "for x, y in loader:\n    z = other.to(device)\n",
        HEAD + "x, y = next(iter(loader))\nx.to(device)\n",
        "for x, y in loader:\n    x = x.to(device)\n",
    ],
)
def test_one_half_of_the_cure_is_none(cell: str) -> None:
    assert pin_batches(cell, [2]) is None


def test_pinned_loaders_only_need_the_copies() -> None:
    after = copy_without_blocking(TRAINING, LOOP)
    assert after is not None and "pin_memory" not in after and after.count("non_blocking=True") == 2
    assert copy_without_blocking(after, LOOP) is None


def test_what_only_workers_understand_is_set_where_there_are_some() -> None:
    assert set_for_workers(TRAINING, LOOP, prefetch_factor="4") is None
    with_workers = TRAINING.replace("batch_size = 16 ,", "batch_size=16, num_workers=1")
    after = set_for_workers(with_workers, LOOP, prefetch_factor="4")
    assert after is not None and "num_workers=1, prefetch_factor=4)" in after
    assert run(after)["losses"] == run(with_workers)["losses"]
    for none in ("0", "count"):
        assert (
            set_for_workers(with_workers.replace("num_workers=1", f"num_workers={none}"), LOOP, prefetch_factor="4")
            is None
        )
