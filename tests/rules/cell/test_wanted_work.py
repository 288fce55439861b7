"""Work that looks repeated, and is wanted as it is."""

from __future__ import annotations

import ast

import pytest

from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.rules.cell.wanted_work import (
    copies_state,
    draws_without_replacement,
    few_of_order,
    is_fitted_again,
    is_redrawn,
    is_stored_into,
    writes_items,
)


def nodes(source: str, line: int) -> list[ast.AST]:
    return list(expressions_at(source, line))


@pytest.mark.parametrize(
    ("source", "redrawn"),
    [
        ("for i in range(9):\n    ax = fig.add_subplot(3, 3, i)\n    ax.imshow(x[i])\n", False),
        ("for i in range(9):\n    ax.cla()\n    ax.plot(seen)\n", True),
        ("for x in loader:\n    loss(x).backward()\n    plt.plot(losses)\n", True),
        ("opt.step()\nplt.cla()\nax.plot(x)\n", False),
    ],
)
def test_pictures_that_take_the_place_of_others(source: str, redrawn: bool) -> None:
    assert is_redrawn(source, [3]) is redrawn


def test_places_that_are_written_in_the_same_loop() -> None:
    source = "for i in range(n):\n    counts = [(z == k).sum() for k in K]\n    z[i] = draw(counts)\n"
    assert is_stored_into(source, 2, "z") and not is_stored_into(source, 2, "counts")
    assert not is_stored_into(f"z[0] = 1\n{source.replace('z[i] =', 'y =')}", 3, "z")


@pytest.mark.parametrize(
    ("source", "few"),
    [
        ("for _ in range(9):\n    p = rng.permutation(ids)\n    a, b = p[:n].mean(), p[n:].mean()\n", False),
        ("for _ in range(9):\n    p = rng.permutation(ids)\n    a = p[:n].mean()\n", True),
        ("for _ in range(9):\n    random.shuffle(ids)\n    a = ids[:n]\n", True),
        ("for _ in range(9):\n    random.shuffle(ids)\n    for each in ids: use(each)\n", False),
        ("for _ in range(9):\n    random.shuffle(ids)\n    use()\n", False),
        ("for _ in range(9):\n    random.shuffle(other)\n    a = ids[:n]\n", False),
    ],
)
def test_how_much_of_a_shuffled_list_is_used(source: str, few: bool) -> None:
    assert few_of_order(source, nodes(source, 2), "ids") is few


@pytest.mark.parametrize(
    ("line", "items"),
    [
        ("np.save(os.path.join(out, f'{i}.npy'), x[i])", True),
        ("np.save(f'{i}.npy', x[i])", True),
        ("np.save(out / names[i], x[i])", True),
        ("np.save('all.npy', x)", False),
        ("torch.save(model.state_dict(), f'epoch{i}.pt')", False),
        ("torch.save({'model': model.state_dict(), 'epoch': i}, f'{i}.pt')", False),
    ],
)
def test_files_of_which_each_holds_something_else(line: str, items: bool) -> None:
    source = f"for i in range(9):\n    {line}\n"
    assert writes_items(source, 2, nodes(source, 2)) is items
    inside = f"def keep(i, x):\n    {line}\n\nfor i in range(9):\n    keep(i, x)\n"
    assert writes_items(inside, 2, nodes(inside, 2)) is items


def test_a_counter_names_files_too() -> None:
    source = "while busy:\n    np.save(f'{i}.npy', x)\n    i += 1\n"
    assert writes_items(source, 2, nodes(source, 2))
    assert not writes_items(source.replace("i += 1", "x += 1"), 2, nodes(source, 2))


@pytest.mark.parametrize(
    ("line", "kind", "state"),
    [
        ("best = copy.deepcopy(net.state_dict())", "", True),
        ("best = copy.deepcopy(net)", "torch.nn.modules.container.Sequential", True),
        ("best = copy.deepcopy(board)", "builtins.list", False),
    ],
)
def test_copies_of_a_models_state(line: str, kind: str, state: bool) -> None:
    assert copies_state(nodes(line, 1), kind) is state


@pytest.mark.parametrize(
    ("line", "fitted"),
    [("gp.fit(X, y)", True), ("L = torch.linalg.cholesky(k(X))", True), ("score = metric(torch.cat(X))", False)],
)
def test_models_that_are_fitted_to_all_there_is(line: str, fitted: bool) -> None:
    source = f"for x in xs:\n    X = np.vstack([X, x])\n    {line}\n    other.fit(x)\n"
    assert is_fitted_again(source, {3}) is fitted
    assert not is_fitted_again("for x in", {1})


def test_draws_of_which_each_takes_an_item_once() -> None:
    assert draws_without_replacement(nodes("x = rng.choice(n, 20, replace=False, p=w)", 1))
    assert not draws_without_replacement(nodes("x = rng.choice(n, 20, replace=True, p=w)", 1))
