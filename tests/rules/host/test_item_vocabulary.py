"""Functions that take all items at once: by what library they are, and by what they are given."""

from __future__ import annotations

import pytest

from gpuprof.rules.host.item_vocabulary import BUILT_IN, NO_WAY, VOCABULARY
from tests.rules.cases.host.costly_call_per_item import library
from tests.rules.host.test_item_calls import ARRAY, LIST, known, marked, told

# the module as it is sampled, the function, how it is called with one item of `z`
CALLS = {
    "scatter": ("matplotlib/axes/_axes.py", "Axes.scatter", "ax.scatter({x}, 1)"),
    "plot": ("matplotlib/axes/_axes.py", "Axes.plot", "ax.plot({x}, 1)"),
    "bar": ("matplotlib/axes/_axes.py", "Axes.bar", "ax.bar({x}, 1)"),
    "add_patch": ("matplotlib/axes/_base.py", "_AxesBase.add_patch", "ax.add_patch({x})"),
    "predict": ("sklearn/linear_model/_base.py", "LinearRegression.predict", "model.predict({x})"),
    "query": ("scipy/spatial/_kdtree.py", "KDTree.query", "tree.query({x})"),
    "euclidean": ("scipy/spatial/distance.py", "euclidean", "distance.euclidean({x}, y)"),
    "pdf": ("scipy/stats/_distn_infrastructure.py", "rv_continuous.pdf", "norm.pdf({x})"),
    "mean": ("numpy/_core/fromnumeric.py", "mean", "np.mean({x})"),
    "clip": ("numpy/_core/fromnumeric.py", "clip", "np.clip({x}, 0, 1)"),
    "getpixel": ("PIL/Image.py", "Image.getpixel", "image.getpixel({x})"),
    "hilbert": ("scipy/signal/_signaltools.py", "hilbert", "signal.hilbert({x})"),
}
OF_NUMBERS = {"scatter", "bar"}
OF_ARRAY = {"mean", "hilbert"}
SHORT = {"euclidean", "pdf", "mean", "clip", "hilbert"}


def is_told(name: str, loop: str, item: str, *, kind: str = ARRAY, items: str = "", most: int = 1800) -> bool:
    file, function, call = CALLS[name]
    source = marked(f"for {loop}:\n    kept = {call.format(x=item)}")
    found = told(source, library(file, function), seen=(known("z", kind, most, items),), ms=600)
    return found is not None and "is called once for each item" in found.title


@pytest.mark.parametrize("name", CALLS)
def test_numbers_of_an_array_can_be_given_all_at_once(name: str) -> None:
    assert is_told(name, "x in z", "x") and is_told(name, "i in range(len(z))", "z[i]")


@pytest.mark.parametrize("name", CALLS)
def test_what_is_given_a_column_of_each_item_draws_many_already(name: str) -> None:
    assert is_told(name, "x in z", "x[:, 0]") is (name not in OF_NUMBERS)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_a_list_may_differ_in_length(name: str) -> None:
    parts = is_told(name, "x in z", "x", kind=LIST, items=ARRAY)
    assert parts is (name not in OF_NUMBERS | OF_ARRAY)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_takes_long_has_work_to_do(name: str) -> None:
    """600 ms for 1,300 items, or for 1,100: 0.46 and 0.55 ms each."""
    assert is_told(name, "x in z", "x", most=1300)
    assert is_told(name, "x in z", "x", most=1100) is (name not in SHORT)


@pytest.mark.parametrize("name", ["firwin", "unique", "histogram", "stack", "interp1d"])
def test_what_has_no_way_for_many_is_not_said_in_general(name: str) -> None:
    assert name in NO_WAY
    frame = library("scipy/signal/_more.py", name)
    found = told(marked(f"for x in z:\n    kept = signal.{name}(x)"), frame, seen=(known("z"),), ms=600)
    assert found is None or "is called once for each item" not in found.title


def test_a_name_alone_is_not_enough() -> None:
    tensor = BUILT_IN[0]
    assert tensor.holds("torch.tensor") and tensor.holds("torch.from_numpy")
    assert not tensor.holds("torch.randn") and not tensor.holds("mine.tensor")
    tokenizer = next(each for each in VOCABULARY if each.modules == ("transformers.tokenization",))
    assert tokenizer.holds("transformers.tokenization_utils.anything")
