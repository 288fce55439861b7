"""Whether batch norms ran."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.batch_norms import BatchNorms
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(
    ("name", "ran"),
    [("aten::native_batch_norm", True), ("aten::_batch_norm_impl_index", True), ("aten::layer_norm", False)],
)
def test_by_the_operators_name(name: str, ran: bool) -> None:
    assert Results(TraceBuilder().operator(name, 0, 1).build()).get(BatchNorms).ran is ran
