from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.proving import play as playing
from benchmarks.proving.pair import PairError, load_pair
from benchmarks.proving.play import LINES_ABOVE, Interpreter, Shell, notebook, play
from tests.benchmarks.test_pair import CELLS, HEAD

TRAINING = """# %% setup
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# %% bad
for step in range(size.steps):
    loss = model(torch.ones(2, 4, device=device)).square().mean()
    loss.backward()
    optimizer.step()
print(loss.item())  # <- sync_in_step
# %% good
loss = 0.5
"""


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GPUPROF_FOLDER", str(tmp_path / "runs"))
    (tmp_path / "made.py").write_text(HEAD.replace("steps = 1\n", "steps = 6\n") + TRAINING)
    return load_pair(tmp_path / "made.py")


def test_a_variant_runs_as_plain_cells(pair, capsys: pytest.CaptureFixture[str]) -> None:
    main = sys.modules["__main__"]
    played = play(pair, "bad", "mini", "cpu")
    assert played.run is None and len(played.losses) == 1
    assert capsys.readouterr().out == f"{played.losses[0]}\n"
    assert play(pair, "good", "mini", "cpu").losses == (0.5,)
    assert sys.modules["__main__"] is main


@pytest.mark.parametrize("kind", [Shell, Interpreter])
def test_a_variant_runs_under_the_profiler(pair, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "Shell", kind)
    run = play(pair, "bad", "mini", "cpu", arguments="--shapes --no-nvml").run
    assert run is not None and run.to_dict()["source"]["steps"] > 1
    cell = run.trace.context.cell
    assert cell.source.splitlines()[LINES_ABOVE:] == pair.bad.source.splitlines()


@pytest.mark.parametrize("kind", [Shell, Interpreter])
def test_what_a_cell_raises_is_passed_on(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "Shell", kind)
    with pytest.raises(ZeroDivisionError), notebook() as cells:
        cells.run("1 / 0")


def test_an_unknown_variant_or_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(HEAD + CELLS)
    pair = load_pair(tmp_path / "made.py")
    with pytest.raises(PairError, match="no variant 'masked'; it has bad, good"):
        play(pair, "masked", "mini", "cpu")
    with pytest.raises(PairError, match="no size 'huge'"):
        play(pair, "bad", "huge", "cpu")
