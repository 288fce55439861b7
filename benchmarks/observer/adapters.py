"""How each program becomes a notebook: which arguments, which data, where its last cell begins, what its steps are.

The programs run as they are published. Only numbers that make them large are changed, and the steps of their
optimizers are put between two calls of a stopwatch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.observer import stand_ins


def _nothing(folder: Path) -> None:
    """Nothing to prepare."""


@dataclass(frozen=True)
class Adapter:
    """What is needed to run one program.

    `arguments`: its command line. `cell_from`: how the first line of the cell that is measured begins; everything
    above is the cell before. `steps`: the statements that step an optimizer, the one that ends an iteration first.
    `loader`: the expression that gives batches, where there is one. `edits`: numbers made smaller, each text once in
    the program. `prepare`: puts the data into the working directory. `longer`: what makes it run for about a minute, in
    the place of that argument, or of what that edit puts there.
    """

    cell_from: str
    steps: tuple[str, ...]
    loader: str | None = None
    arguments: tuple[str, ...] = ()
    edits: tuple[tuple[str, str], ...] = ()
    images: tuple[int, int] = (0, 0)
    prepare: Callable[[Path], None] = _nothing
    longer: tuple[str, str] = ("", "")

    def for_a_minute(self) -> Adapter:
        """The same program for about a minute."""
        old, new = self.longer
        arguments = tuple(new if each == old else each for each in self.arguments)
        edits = tuple((text, new if put == old else put) for text, put in self.edits)
        return replace(self, arguments=arguments, edits=edits)


def _results_folder(folder: Path) -> None:
    (folder / "results").mkdir()


def _text(folder: Path) -> None:
    (folder / "input.txt").write_text(stand_ins.text(300_000), encoding="utf-8")


def _papers(folder: Path) -> None:
    stand_ins.write_citations(folder / "cora", papers=700)


ADAPTERS = {
    "vae": Adapter(
        cell_from='if __name__ == "__main__":',
        steps=("optimizer.step()",),
        loader="train_loader",
        arguments=("--epochs=7",),
        images=(7_680, 1_024),
        prepare=_results_folder,
        longer=("--epochs=7", "--epochs=70"),
    ),
    "mnist": Adapter(
        cell_from="if __name__ == '__main__':",
        steps=("optimizer.step()",),
        loader="train_loader",
        arguments=("--epochs=2",),
        images=(2_560, 1_000),
        longer=("--epochs=2", "--epochs=16"),
    ),
    "wgan_gp": Adapter(
        cell_from="batches_done = 0",
        steps=("optimizer_D.step()", "optimizer_G.step()"),
        loader="dataloader",
        arguments=("--n_epochs=5",),
        images=(3_840, 0),
        longer=("--n_epochs=5", "--n_epochs=45"),
    ),
    "gpt": Adapter(
        cell_from="for iter in range(max_iters):",
        steps=("optimizer.step()",),
        edits=(
            ("batch_size = 64", "batch_size = 16"),
            ("block_size = 256", "block_size = 32"),
            ("max_iters = 5000", "max_iters = 200"),
            ("eval_interval = 500", "eval_interval = 100"),
            ("eval_iters = 200", "eval_iters = 10"),
            ("n_embd = 384", "n_embd = 64"),
            ("n_head = 6", "n_head = 4"),
            ("n_layer = 6", "n_layer = 4"),
        ),
        prepare=_text,
        longer=("max_iters = 200", "max_iters = 2000"),
    ),
    "gat": Adapter(
        cell_from="    for epoch in range(args.epochs):",
        steps=("optimizer.step()",),
        arguments=("--epochs=60",),
        edits=(("idx[:1200], idx[1200:1600], idx[1600:]", "idx[:200], idx[200:400], idx[400:]"),),
        prepare=_papers,
        longer=("--epochs=60", "--epochs=330"),
    ),
}
