from __future__ import annotations

import pytest
import torch

from gpuprof.code_edits.data.stacked_arrays import stack_arrays
from tests.code_edits.executed import assert_rest_is_kept, run

READ = """\
import numpy as np
rows = tuple(np.full(3, each, np.{dtype}) for each in range(4))
x = torch.{call}(rows)  # one number after another
y = torch.tensor([1, 2])
"""


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("call", ["tensor", "as_tensor", "asarray", "Tensor", "FloatTensor", "DoubleTensor"])
def test_values_and_type_stay_the_same(call: str, dtype: str) -> None:
    source = READ.format(call=call, dtype=dtype)
    after = stack_arrays(source, [(3, "rows")])
    assert after == source.replace(f"torch.{call}(rows)", f"torch.{call}(np.stack(rows))")
    assert after is not None
    assert_rest_is_kept(source, after)
    was, now = run(source)["x"], run(after)["x"]
    assert torch.equal(was, now) and was.dtype is now.dtype


@pytest.mark.parametrize(
    ("line", "given", "becomes"),
    [
        ("a, b = torch.tensor(a), torch.tensor(b)", "b", "a, b = torch.tensor(a), torch.tensor(np.stack(b))"),
        ("x = torch.tensor(rows, dtype=d).to(c)", "rows", "x = torch.tensor(np.stack(rows), dtype=d).to(c)"),
        (
            'x = torch.tensor([ each["s"] for each in b ])',
            "[each['s'] for each in b]",
            'x = torch.tensor(np.stack([ each["s"] for each in b ]))',
        ),
        ("x = torch.tensor(others)", "rows", None),
        ("x = torch.tensor(*rows)", "rows", None),
        ("x = torch.tensor(data=rows)", "rows", None),
        ("x = model.tensor(rows)", "rows", None),
    ],
)
def test_what_is_given_there_and_nothing_else(line: str, given: str, becomes: str | None) -> None:
    head = "import numpy as np\nimport torch\n"
    assert stack_arrays(head + line, [(3, given)]) == (None if becomes is None else head + becomes)


def test_numpy_has_the_name_that_the_cell_gives_it() -> None:
    assert (
        stack_arrays("import numpy\nx = torch.tensor(r)", [(2, "r")])
        == "import numpy\nx = torch.tensor(numpy.stack(r))"
    )
    assert stack_arrays("x = torch.tensor(r)", [(1, "r")]) is None
    assert stack_arrays("import numpy as np\nx = torch.tensor(r)", []) is None
