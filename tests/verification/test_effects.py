"""Cells that act outside their variables are refused, others are not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gpuprof.errors import VerificationError
from gpuprof.verification.effects import effects, refuse_effects


@pytest.mark.parametrize(
    "source",
    [
        "torch.save(model.state_dict(), 'model.pt')",
        "get_ipython().system('ls')",
        "get_ipython().run_line_magic('cd', '/')",
        "name = input()",
        "open('log.txt', 'a').write('x')",
        "open('log.txt', mode)",
        "path.open('w')",
        "frame.to_csv('x.csv')",
        "import subprocess\nsubprocess.run(['ls'])",
        "wandb.log({'loss': 1})",
        "await thing()",
        "thread = threading.Thread(target=watch)\nthread.start()",
        "asyncio.ensure_future(say())",
        "plt.savefig('x.png')",
        "def save():\n    os.remove('x')",
    ],
)
def test_refused(source: str) -> None:
    with pytest.raises(VerificationError, match=r"line \d of the cell"):
        refuse_effects(source)


@pytest.mark.parametrize(
    "source",
    [
        "open('data.txt').read()",
        "open('data.txt', 'rb')",
        "path.open()",
        "Image.open(path)",
        "get_ipython().run_line_magic('matplotlib', 'inline')",
        "optimizer.step()\nprint(loss.item())\nmodel.save = 1",
        "text.replace('a', 'b')\nlosses.remove(1)",
    ],
)
def test_let_through(source: str) -> None:
    assert effects(ast.parse(source)) == []


class Trainer:
    def step(self) -> None:
        self.keep()

    def keep(self) -> None:
        Path("x").write_text("x")


def test_functions_count_where_they_are_called() -> None:
    functions = [Trainer.step, Trainer.keep]
    refuse_effects("trainer.fit()", functions)
    with pytest.raises(VerificationError, match=r"Trainer\.keep\(\), which the cell calls"):
        refuse_effects("trainer.step()", functions)
