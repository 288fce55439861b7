"""What the text says of a name that holds tensors."""

from __future__ import annotations

import pytest

from gpuprof.analyses.memory.holder_text import (
    attribute_lines,
    densified_by,
    goes_backward,
    is_combined,
    is_multiplied,
    is_refilled,
    is_updated,
    is_used_in_parts,
    last_made,
    lines_of_methods,
    made_lines,
)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = sample(20)", (1,)),
        ("x, y = sample(20)", (1,)),
        ("for x in data:\n    x = f(x)", (1, 2)),
        ("x: Tensor = f()", (1,)),
        ("x = []\nx = {}\nx = 0\nx = ()", ()),
        ("def f():\n    x = g()\n    return x", ()),
        ("y = f(x)\nx.append(1)", ()),
        ("x = [", ()),
    ],
)
def test_where_it_is_made(source: str, lines: tuple[int, ...]) -> None:
    assert made_lines(source, "x") == lines


@pytest.mark.parametrize(
    ("source", "refilled"),
    [
        ("for e in range(9):\n    kept = 0\n    for x in data:\n        kept += f(x)\n    kept = kept / 9", True),
        ("for e in range(9):\n    kept = []\n    for x in data:\n        kept.append(f(x))", True),
        ("kept = []\nfor x in data:\n    kept.append(f(x))", False),
        ("kept = []\nfor e in range(9):\n    for x in data:\n        kept.append(f(x))", False),
        ("for e in range(9):\n    kept = f(e)", False),
    ],
)
def test_whether_it_is_emptied_and_filled_again(source: str, refilled: bool) -> None:
    assert is_refilled(source, "kept") is refilled


@pytest.mark.parametrize(
    ("source", "combined"),
    [
        ("mean = {k: sum(s[k] for s in kept) / len(kept) for k in kept[0]}", True),
        ("mean = torch.stack([s['w'].float() for s in kept]).mean(0)", True),
        ("for s in kept:\n    for k, v in s.items():\n        mean[k] += v / 9", True),
        ("for s in kept:\n    mean.add_(s['w'])", True),
        ("total = sum(predict(s, x) for s in kept)", False),
        ("for s in kept:\n    net.load_state_dict(s)\n    total += net(x)", False),
        ("for s in kept:\n    count += 1", False),
        ("stacked = torch.stack([s['w'] for s in kept])", False),
        ("best = kept[-1]", False),
        ("mean = sum(others)", False),
    ],
)
def test_whether_it_is_added_up(source: str, combined: bool) -> None:
    assert is_combined(source, "kept") is combined


@pytest.mark.parametrize(
    ("source", "in_parts"),
    [
        ("batch = kept[index]", True),
        ("batch = kept[start : start + 32]", True),
        ("data = TensorDataset(kept, labels)", True),
        ("for batch in kept.split(32):\n    pass", True),
        ("first = kept[0]", False),
        ("y = net(kept)", False),
        ("other[index]", False),
        ("x = torch.tensor(kept, dtype=torch.float32).transpose(1, 2)\nfor i in order:\n    net(x[i])", True),
        ("x = kept.float()\nx = kept.float()\ny = net(x)", False),
        ("x = kept.float()\nkept = x.float()\nnet(x)", False),
        ("x = scale(kept)\nbatch = x[index]", False),
    ],
)
def test_whether_a_part_is_used_at_a_time(source: str, in_parts: bool) -> None:
    assert is_used_in_parts(source, "kept") is in_parts


def test_where_a_backward_pass_begins() -> None:
    assert goes_backward("loss = f(x)\nloss.backward()", "loss")
    assert goes_backward("torch.autograd.grad(y, x)", "y")
    assert goes_backward("loss.backward(retain_graph=True)", "images")
    assert not goes_backward("loss.backward()", "images")


FIELD = "def field(z):\n    return torch.autograd.grad(energy(z), z, create_graph=True)[0]\n"


def test_a_graph_that_a_function_leaves_is_that_of_its_own_variables() -> None:
    assert not goes_backward(FIELD + "pred = rollout(field, start)\n", "pred")
    assert goes_backward(FIELD + "pred = field(start)\nloss = field(pred)\n", "pred")
    assert goes_backward(FIELD, "z")
    assert goes_backward("g = torch.autograd.grad(e, z, create_graph=True)\n", "pred")


CLASS = """class Recorder:
    def __init__(self):
        self.kept = []
    def __call__(self, x):
        self.kept.append(x)
        other.append(x)
recorder = Recorder()
"""


def test_methods_of_a_class_of_the_text() -> None:
    assert lines_of_methods(CLASS, "recorder") == (5,)
    assert lines_of_methods(CLASS, "other") == ()
    assert lines_of_methods("recorder = Recorder()", "recorder") == ()


def test_the_lines_of_the_last_statement_that_makes_it() -> None:
    source = "x = load()\nx = one_hot(\n    x,\n).float()\nprint(x)"
    assert list(last_made(source, "x")) == [2, 3, 4] and list(last_made(source, "y")) == []


@pytest.mark.parametrize(
    ("source", "multiplied"),
    [("a @ h", True), ("a.mm(h)", True), ("torch.matmul(a, h)", True), ("h @ a", False), ("a * h", False)],
)
def test_what_is_the_first_factor_of_a_product(source: str, multiplied: bool) -> None:
    assert is_multiplied(source, "a") is multiplied


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("x = vec.fit_transform(texts).toarray()", "toarray"),
        ("x = vec.fit_transform(texts)\nx = np.asarray(x.todense())", "todense"),
        ("x = graph.to_dense()[keep]", "to_dense"),
        ("y = table.toarray()\nx = vec.fit_transform(texts)", ""),
        ("def f():\n    x = table.toarray()", ""),
    ],
)
def test_the_call_that_makes_it_dense(source: str, call: str) -> None:
    assert densified_by(source, "x") == call
    assert densified_by("def f():\n    x = table.toarray()", "x", "f") == "toarray"


@pytest.mark.parametrize(
    ("source", "updated"),
    [
        ("x += 1", True),
        ("x[rows] += 1", True),
        ("x.add_(1)", True),
        ("x[rows].scatter_add_(0, at, y)", True),
        ("np.add.at(x, rows, 1)", True),
        ("x[rows] = picture", False),
        ("total += x.sum()", False),
        ("x.requires_grad_(False)", False),
        ("y.add_(x)", False),
    ],
)
def test_whether_numbers_are_added_in_place(source: str, updated: bool) -> None:
    assert is_updated(source, "x") is updated


DATA = """class Images(Dataset):
    def __init__(self, files):
        self.files = files
        self.x = torch.stack([load(each) for each in files])

    def __getitem__(self, i):
        return self.x[i]


train = Images(files)
def build():
    valid = Images(files)
"""


def test_where_an_attribute_is_made_and_how_it_is_used() -> None:
    assert attribute_lines(DATA, "train", "x") == (4,) and attribute_lines(DATA, "valid", "x", "build") == (4,)
    assert attribute_lines(DATA, "train", "") == attribute_lines(DATA, "other", "x") == ()
    assert is_used_in_parts(DATA, "train", "x") and not is_used_in_parts(DATA, "train", "files")
    assert is_updated("self.x[i] += 1", "train", "x") and is_updated("np.add.at(self.x, i, 1)", "train", "x")
    assert not is_updated("self.x[i] = 1", "train", "x") and not is_updated("self.y += 1", "train", "x")
