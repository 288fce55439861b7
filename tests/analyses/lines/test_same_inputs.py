"""Which statements of a function compute from inputs that have few contents."""

import ast

import pytest

from gpuprof.analyses.lines.same_inputs import SameInputs, inputs_of
from gpuprof.analyses.lines.value_makers import makers
from gpuprof.model.context import Loader
from gpuprof.model.operands import MadeValue
from tests.rules.cases.needless.value_made_again import value

TEXT = """
class Slices:
    def __init__(self, paths):
        self.paths = paths
    def __getitem__(self, i):
        case, z = divmod(i, 40)
        image = load_case(self.paths[case])
        return image[z]

train = loader(Slices(paths))
for epoch in range(3):
    for x in train:
        step(x)
"""


def seen(name: str, contents: int, **changed: int) -> MadeValue:
    return value(function="__getitem__", name=name, first=5, **({"looks": 20, "made": 20} | changed), contents=contents)


FEW = (seen("i", 18), seen("case", 4), seen("z", 12))


def found(
    text: str = TEXT, known: tuple[MadeValue, ...] = FEW, *others: str, loaders: tuple[Loader, ...] = ()
) -> SameInputs | None:
    tree = ast.parse(text)
    function = next(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == "__getitem__")
    known = tuple(
        value(**{name: getattr(each, name) for name in each.__struct_fields__} | {"first": function.lineno})
        for each in known
    )
    maker = next(each for each in makers(tree, "__getitem__", function.lineno) if "image" in each.names)
    return inputs_of((tree, tree, *map(ast.parse, others)), maker, function.lineno, known, loaders)


def test_the_inputs_and_how_many_there_are() -> None:
    assert found() == SameInputs(("case",), contents=4, needed=4, calls=18, often=True)


def test_calls_that_were_seen_for_long_are_few() -> None:
    long = tuple(seen(each.name, each.contents, looks=90, made=30) for each in FEW)
    assert found(known=long) == SameInputs(("case",), 4, 4, 18, often=False)
    assert found(known=(*long[:1], seen("case", 10, looks=90))) is None


def test_not_all_contents_have_been_seen_yet() -> None:
    inputs = found(known=(seen("i", 18), seen("case", 9)))
    assert inputs is not None and inputs.contents == 9 and inputs.needed == 11


@pytest.mark.parametrize(
    "known",
    [
        (seen("i", 18), seen("case", 10)),
        (seen("i", 7), seen("case", 1)),
        (seen("i", 18),),
        (seen("i", 18), seen("case", 0)),
    ],
    ids=["many", "few calls", "not seen", "unknown"],
)
def test_what_is_not_surely_the_same(known: tuple[MadeValue, ...]) -> None:
    assert found(known=known) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("image = load_case(self.paths[case])", "image = load_case(self.paths[case], i)"),
        ("image = load_case(self.paths[case])", "if case not in kept:\n            image = load_case(case)"),
        ("image = load_case(self.paths[case])", "image = load_case(case) if z else None"),
        ("image = load_case(self.paths[case])", "image = load_case(epoch, case)"),
        ("        image = load", "        if z in self.kept: return self.kept[z]\n        image = load"),
        ("        return image[z]", "        self.paths = rotated(self.paths)\n        return image[z]"),
        ("        return image[z]", "        self.paths[z] = case\n        return image[z]"),
        ("        return image[z]", "        self.paths.append(z)\n        return image[z]"),
        ("train = loader(Slices(paths))", "train = [loader(Slices(each)) for each in paths]"),
        ("load_case(self.paths[case])", "load_case(kept, self.paths[case])\n        kept.append(z)"),
        ("load_case(self.paths[case])", "load_case(kept, self.paths[case])\n        kept[z] = case"),
        (
            "load_case(self.paths[case])",
            "load_case(kept, case)\n    def other():\n        global kept\n        kept = 1",
        ),
        ("class Slices:", "class Slices(nn.Module):"),
        ("train = loader(Slices(paths))", "def train(): return loader(Slices(paths))"),
    ],
)
def test_what_may_change(old: str, new: str) -> None:
    assert old in TEXT and found(TEXT.replace(old, new)) is None


def test_each_object_has_its_own() -> None:
    inputs = found(TEXT + "test = loader(Slices(others))\n")
    assert inputs is not None and (inputs.contents, inputs.needed) == (4, 8)


def test_objects_of_other_cells() -> None:
    text = TEXT.partition("train =")[0]
    assert found(text) is None
    assert found(text, FEW, "data = Slices(paths)") is not None
    assert found(text, FEW, "for each in paths:\n    data = Slices(each)") is None


def test_a_file_that_is_open_meanwhile() -> None:
    text = TEXT.replace("        image = load_case(", "        with timer():\n            image = load_case(")
    assert found(text) is not None


STARS = """
class Stars:
    def __init__(self, stars):
        self.stars = stars
    def __getitem__(self, i):
        image = spectrum(self.stars[i])
        return image + noise(image)
"""


def loader(**changed: object) -> Loader:
    known = {"workers": 0, "batch_size": 8, "samples": 40, "batches_read": 20, "dataset": "Stars"}
    return Loader(**(known | changed))  # type: ignore[arg-type]


def test_each_pass_asks_for_the_same_samples() -> None:
    read = found(STARS, (seen("i", 18),), loaders=(loader(), loader(samples=10, batches_read=5)))
    assert read == SameInputs(("i",), contents=50, needed=50, calls=200, often=False, counted=True)
    subset = found(STARS, (seen("i", 18),), loaders=(loader(dataset="Subset", inner_dataset="Stars"),))
    assert subset is not None and subset.calls == 160


@pytest.mark.parametrize(
    "changed",
    [
        {"batches_read": 9},
        {"dataset": "Others"},
        {"workers": 2},
        {"samples": None},
        {"batch_size": None},
        {"samples_compared": 9, "samples_same": 9},
    ],
    ids=["one pass", "others", "workers", "no samples", "no batches", "whole samples"],
)
def test_samples_that_are_not_known_to_come_again(changed: dict[str, int]) -> None:
    assert found(STARS, (seen("i", 18),), loaders=(loader(**changed),)) is None


@pytest.mark.parametrize("text", ["spectrum(self.stars[i], rate)", "spectrum(self.stars[0])"])
def test_what_depends_on_more_or_less_than_the_index(text: str) -> None:
    given = STARS.replace("spectrum(self.stars[i])", text).replace("(self, i):", "(self, i):\n        rate = draw()")
    assert found(given, (seen("i", 18),), loaders=(loader(),)) is None


@pytest.mark.parametrize(
    "text",
    [
        STARS.replace("(self, i):", "(self, i):\n        i = draw(i)"),
        STARS.replace("stars[i]", "stars[self.order[i]]")
        + "    def shuffled(self):\n        rng.shuffle(self.order)\n",
    ],
)
def test_an_index_that_stands_for_another_sample_later(text: str) -> None:
    assert found(text, (seen("i", 18),), loaders=(loader(),)) is None
