"""Which steps are the cell's, where several optimizers step."""

from __future__ import annotations

from gpuprof.capture.session.step_loops import EndedStep, StepLoops


def test_the_busiest_leads_and_eight_in_a_row_of_another_begin_a_loop() -> None:
    loops = StepLoops()
    assert loops.stepped(1, (), 10, 2) == [EndedStep(10, 2)]
    assert loops.stepped(2, (), 20, 3) == []
    # what the other one took is of the step that ends next
    assert loops.stepped(1, (), 30, 2) == [EndedStep(30, 5)]
    assert [loops.stepped(2, (), 40 + each, 1) for each in range(7)] == [
        [],
        [EndedStep(41, 2)],
        *[[EndedStep(42 + n, 1)] for n in range(5)],
    ]
    # it has overtaken the first one, which led by one step: that is no other loop
    assert len(loops.loops) == 1


def test_a_loop_that_follows_has_all_of_its_steps() -> None:
    loops = StepLoops()
    for each in range(100):
        loops.stepped(1, (), each, 1)
    ended = [loops.stepped(2, (), 1000 + each, 1) for each in range(10)]
    assert ended[:7] == [[]] * 7
    assert ended[7] == [EndedStep(1000 + each, 1) for each in range(8)]
    assert ended[8:] == [[EndedStep(1008, 1)], [EndedStep(1009, 1)]]
    assert [first for first, _ in loops.loops] == [0, 100]
    assert loops.alike(110, 105).tolist() == [False] + [True] * 99 + [False] + [True] * 9  # they step in the same lines


def test_one_optimizer_per_parameter_makes_one_step() -> None:
    loops = StepLoops()
    ended = [loops.stepped(parameter, (), step, 1) for step in range(50) for parameter in range(30)]
    assert sum(len(each) for each in ended) == 50 and len(loops.loops) == 1
