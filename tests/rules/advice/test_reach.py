"""Whether what chooses a part is known where the whole is computed."""

from gpuprof.rules.advice.reach import Reach, reach

CROPS = """def augment(volume):
    volume = volume * 2
    return volume + 1

def sample(k):
    whole = augment(volumes[k])
    z, y = corner(whole.shape)
    return whole[z, y], labels[k]
"""


def test_a_function_that_does_not_know_the_part() -> None:
    assert reach(CROPS, computed=2, chosen=8) == Reach("z, y", "augment", 6, (7,))


def test_in_the_same_function() -> None:
    source = "whole = model(x)\nat = len(x) - 1\nlast = whole[at]\n"
    assert reach(source, computed=1, chosen=3) == Reach("at", "", 0, (2,))
    assert reach("at = 3\nwhole = model(x)\nlast = whole[at]\n", 2, 3) == Reach("at", "", 0, ())


def test_a_part_that_is_no_index() -> None:
    source = "def product(a):\n    return a @ a.T\n\nd = product(x)\nprint(d.diagonal())\n"
    assert reach(source, computed=2, chosen=5) == Reach("", "product", 4, ())


def test_a_part_of_several_is_not_told() -> None:
    assert reach("d = x * 2\ny = d[0] + d[1]\n", 1, 2) == Reach("", "", 0, ())


def test_names_that_are_given() -> None:
    source = "labels = make()\nloss = f(x)\n"
    assert reach(source, computed=1, chosen=2, names=["labels"]) == Reach("", "", 0, (1,))


def test_the_forward_pass_of_a_module() -> None:
    source = (
        "class Net(Module):\n    def forward(self, ids):\n        return self.head(ids)\n    def loss(self, ids):\n"
        "        return cost(self(ids)[keep])\n\nmodel = Net()\nout = model(ids)\nloss = cost(out[keep])\n"
    )
    assert reach(source, computed=3, chosen=9) == Reach("keep", "forward", 8, ())
    assert reach(source, computed=3, chosen=5) == Reach("keep", "forward", 5, ())


def test_what_is_not_known() -> None:
    assert reach("def (", 1, 2) is None
    # the whole is computed outside, the part is chosen in a function
    assert reach("whole = f(x)\ndef part(i):\n    return whole[i]\n", 1, 3) is None
    # nothing here leads to it
    assert reach("def f(x):\n    return x\n\ny = g(x)\nz = y[k]\n", 2, 5) is None
