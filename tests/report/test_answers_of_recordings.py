"""Every recording can be asked everything: it answers with numbers in order, or refuses in one line."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.errors import UsageError
from gpuprof.report.answer import answer
from gpuprof.whatif.questions import Question

QUESTIONS = (
    Question(kernel_time={"*": 0.5}),
    Question(kernel_time={"*": 0.0}),
    Question(no_waits=True),
    Question(pinned_copies=True),
    Question(data_ready=True),
    Question(link_speedup=2.0),
    Question(without_lines=(1, 2, 3)),
    Question(kernel_time={"*": 0.5}, no_waits=True),
)
# docs/design/whatif.md, "Three edits on public traces"
KERNELS_TWICE_AS_FAST = {
    "a100-sam-many-syncs": 1.80,
    "h100-owlv2-dataloader-stacks": 1.30,
    "h100-transformer-tiny-kernels": 1.00,
    "v100-ddp-memory-nccl": 1.00,
    "a100-ddp-rank3-healthy": 1.09,
}


def test_any_recording_answers_or_refuses(any_shared_trace) -> None:
    results, answered = Results(any_shared_trace), []
    for asked in QUESTIONS:
        try:
            found = answer(results, asked)
        except UsageError as error:
            assert str(error).startswith("whatif: ") and "\n" not in str(error)
            continue
        answered.append(found)
        ends = (found.low_share, found.central_share, found.high_share)
        if found.grade == "D":
            assert ends == (None, None, None) and found.reasons
        else:
            low, central, high = (each for each in ends if each is not None)
            assert low <= central + 1e-9 and central <= high + 1e-9 and high <= 1 + 1e-9
        assert str(found).endswith(".") and ": " in str(found)
    halved, gone = answered[:2] if len(answered) > 1 and "*" in answered[1].question else (None, None)
    if halved and gone and halved.central_share is not None and gone.central_share is not None:
        assert gone.central_share >= halved.central_share - 1e-9


@pytest.mark.parametrize(("name", "speedup"), KERNELS_TWICE_AS_FAST.items())
def test_kernels_twice_as_fast_give_what_the_design_page_says(shared_trace, name, speedup) -> None:
    found = answer(Results(shared_trace(name)), Question(kernel_time={"*": 0.5}))
    assert found.speedup == pytest.approx(speedup, rel=0.06)
