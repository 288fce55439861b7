from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.source_phases import (
    evaluates,
    generates,
    lines_of_evaluation,
    lines_of_logging,
    lines_of_training,
    lines_without_gradients,
)

SOURCE = """%%time
model(x)
with torch.no_grad(), timer():
    a = model(x)
    b = model(
        y)
loss = f(a)

@torch.inference_mode()
def predict(x):
    return model(x)

@no_grad
def other(x):
    return x
async def main():
    async with inference_mode():
        await x
"""


def test_blocks_and_decorated_functions_run_without_gradients() -> None:
    assert lines_without_gradients(SOURCE) == {4, 5, 6, 11, 15, 18}


@pytest.mark.parametrize("source", ["", "def broken(:", "\0", "!pip install x"])
def test_a_source_that_is_none_says_nothing(source: str) -> None:
    assert lines_without_gradients(source) == frozenset()


@pytest.mark.parametrize("name", ["evaluate", "Trainer.validate", "val_epoch", "test", "run_eval"[4:], "Eval"])
def test_a_name_says_that_it_evaluates(name: str) -> None:
    assert evaluates(name)


@pytest.mark.parametrize("name", ["train_and_test", "fit_validation", "main_test", "latest", "value", "forward", ""])
def test_other_names_do_not(name: str) -> None:
    assert not evaluates(name)


EVALUATED = """if step % 10 == 0:
    net.eval()
    for x in held_out:
        losses.append(net(x).item())
    net.train()
    print(losses)
else:
    a.eval()
    while more():
        b(x)
    b.train()
"""


def test_an_evaluation_is_a_loop_from_eval_to_train_of_one_model() -> None:
    assert lines_of_evaluation(EVALUATED) == {3, 4}
    assert lines_of_evaluation(EVALUATED.replace("b.train", "a.train")) == {3, 4, 9, 10}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    net.train()\n", ""),  # a frozen model: what follows may be training
        ("for x in held_out", "if held_out"),  # one pass acts, or labels
        (".item()", ".backward()"),
        ("losses.append(", "environment.step("),
        ("net.eval()", "net.eval"),
    ],
)
def test_what_is_none_says_nothing(old: str, new: str) -> None:
    assert lines_of_evaluation(EVALUATED.replace(old, new)) == frozenset()


@pytest.mark.parametrize(("name", "does"), [("Net.generate", True), ("generate_text", True), ("generator", False)])
def test_a_name_says_that_it_generates(name: str, does: bool) -> None:
    assert generates(name) == does


def test_the_innermost_block_says_whether_it_trains() -> None:
    source = (
        "for x in y:\n    net(x).backward()\n    if a:\n        net(x)\n    else:\n        net(x).backward()\nnet(x)"
    )
    assert lines_of_training(source) == {1, 2, 3, 5, 6, 7}
    assert lines_of_training("if a:\n    net(x)") == lines_of_training("def broken(:") == frozenset()


LOGGED = """print(f"epoch {epoch}: {total / n:.4f}")
logger.info("begun")
self.writer.add_scalar("loss", value, step)
bar.set_postfix(loss=value)
wandb.log({"loss": loss.item()})
print(model(x).cpu())
total += loss
logits = log(x)
"""


def test_lines_that_only_tell_are_logging() -> None:
    """One that reads from the device waits for it, and is none."""
    assert lines_of_logging(LOGGED) == {1, 2, 3, 4}
    assert lines_of_logging("def broken(:") == frozenset()
