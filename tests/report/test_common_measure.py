"""Two runs are compared by work per time, and without the recording wherever both have it."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.report import Comparison, Summary

MS, S = 1_000_000, 1_000_000_000


def run(**known: Any) -> Summary:
    if known.get("plain_ns") and known.get("batch_size"):
        known |= {"sample_ns": known["plain_ns"] / known["batch_size"], "sample_error_share": 0.01}
    return Summary(title="cell", path="run", **known)


def test_eight_times_the_batch_is_compared_by_samples_per_second() -> None:
    # GIVEN a cell over the same data: batch 32 and 2 ms a step, then batch 256 and 4 ms a step
    before = run(cell_ns=11_100 * MS, plain_ns=2 * MS, plain_error_share=0.01, batch_size=32, samples=90_000, steps=20)
    after = run(cell_ns=2_190 * MS, plain_ns=4 * MS, plain_error_share=0.01, batch_size=256, samples=90_000, steps=20)
    compared = Comparison(before, after)
    # THEN the slower step is the faster run
    assert compared.basis == "samples per second" and compared.speedup == pytest.approx(4)
    assert compared.sentence().startswith(
        "4.00× faster than before (16,000 → 64,000 samples per second, whole cell 11.1 s → 2.19 s, batch size 32 → 256)"
    )
    assert compared.to_dict()["samples_per_s"] == {"before": 16_000, "after": 64_000}
    assert compared.to_dict()["differences"] == ["batch size 32 → 256"] and compared.to_dict()["plain"] is True


def test_half_the_batch_is_not_twice_as_fast() -> None:
    before = run(plain_ns=8 * MS, plain_error_share=0.01, batch_size=64, step_ns=40 * MS, step_error_share=0.01)
    after = run(plain_ns=4 * MS, plain_error_share=0.01, batch_size=32, step_ns=5 * MS, step_error_share=0.01)
    assert Comparison(before, after).sentence().startswith("No difference beyond the noise of the steps (8,000 → 8,000")


def test_shorter_sequences_are_less_work_and_said_to_be() -> None:
    # GIVEN the same batches, cut from 256 tokens to 128, in half the time
    before = run(plain_ns=8 * MS, plain_error_share=0.01, batch_size=32, sample_tokens=256.0)
    after = run(plain_ns=4 * MS, plain_error_share=0.01, batch_size=32, sample_tokens=128.0)
    compared = Comparison(before, after)
    # THEN nothing is faster
    assert compared.basis == "tokens per second" and compared.speedup == pytest.approx(1)
    assert compared.sentence() == (
        "No difference beyond the noise of the steps (1,020,000 → 1,020,000 tokens per second, "
        "tokens per sample 256 → 128)."
    )


def test_sequences_of_about_one_length_are_samples() -> None:
    before = run(plain_ns=8 * MS, plain_error_share=0.01, batch_size=32, sample_tokens=101.0)
    after = run(plain_ns=4 * MS, plain_error_share=0.01, batch_size=32, sample_tokens=100.0)
    assert Comparison(before, after).basis == "samples per second"


def test_cells_over_the_same_samples_are_compared_whole_where_one_was_recorded_to_its_end() -> None:
    before = run(cell_ns=11 * S, plain_ns=2 * MS, batch_size=32, samples=90_000, step_ns=6.0 * MS)
    after = run(cell_ns=2 * S, batch_size=256, samples=89_856, step_ns=7.0 * MS)
    compared = Comparison(before, after)
    assert compared.basis == "whole cell" and compared.speedup == pytest.approx(5.5)
    assert "batch size 32 → 256" in compared.sentence()


def test_cells_over_unlike_samples_are_compared_by_the_sample() -> None:
    before = run(cell_ns=10 * S, batch_size=32, samples=10_000, step_ns=6.0 * MS)
    after = run(cell_ns=10 * S, batch_size=64, samples=20_000, step_ns=7.0 * MS)
    compared = Comparison(before, after)
    assert compared.basis == "samples per second" and compared.speedup == pytest.approx(2)
    assert not compared.measure.plain


def test_traces_of_unlike_batches_are_compared_by_the_sample() -> None:
    before = run(batch_size=32, step_ns=6.0 * MS, step_error_share=0.01)
    after = run(batch_size=64, step_ns=6.0 * MS, step_error_share=0.01)
    assert Comparison(before, after).sentence().startswith("2.00× faster")


def test_the_recording_does_not_decide() -> None:
    # GIVEN a fix that makes a step 1.16× as fast, and is recorded at three times its time
    before = run(plain_ns=11.6 * MS, plain_error_share=0.005, step_ns=30.0 * MS, step_error_share=0.01, steps_seen=300)
    after = run(plain_ns=10.0 * MS, plain_error_share=0.005, step_ns=32.4 * MS, step_error_share=0.01, steps_seen=300)
    compared = Comparison(before, after)
    assert compared.basis == "unrecorded step" and compared.per_step
    assert compared.sentence().startswith("1.16× faster than before (unrecorded step 11.6 ms → 10.0 ms)")
    # THEN the recorded steps are compared where one of the runs has no others
    recorded = Comparison(before, run(step_ns=32.4 * MS, step_error_share=0.01, steps_seen=300))
    assert recorded.basis == "median step" and not recorded.measure.plain


def test_steps_of_unknown_work_are_not_compared_where_their_number_differs() -> None:
    before = run(cell_ns=11 * S, plain_ns=2 * MS, plain_error_share=0.01, steps_seen=2800)
    after = run(cell_ns=2 * S, plain_ns=4 * MS, plain_error_share=0.01, steps_seen=350)
    compared = Comparison(before, after)
    assert compared.basis == "whole cell" and not compared.per_step
    assert compared.sentence().startswith("5.50× faster than before (whole cell 11.0 s → 2.00 s, steps 2,800 → 350")
    alike = Comparison(before, run(cell_ns=9 * S, plain_ns=2 * MS, plain_error_share=0.01, steps_seen=2801))
    assert alike.basis == "unrecorded step"


def test_options_and_load_are_named() -> None:
    before = run(step_ns=9.0 * MS, step_error_share=0.01, recorded_with=("stacks", "no_lines"), core_share=0.4)
    after = run(step_ns=5.0 * MS, step_error_share=0.01, core_share=0.97)
    assert Comparison(before, after).differences == (
        "options --stacks --no-lines → none",
        "share of the CPU time it asked for 40 % → 97 %",
    )
    assert Comparison(before, before).differences == ()


def test_a_doubtful_run_is_named() -> None:
    doubtful, sound = run(doubts=("core_starvation", "too_short")), run()
    assert Comparison(doubtful, sound).differences == ("the run before is doubtful: core starvation, too short",)
    numbered = run(doubts=("cut_off",), run_number=3)
    assert Comparison(numbered, numbered).differences == (
        "run 3 is doubtful: cut off",
        "this run is doubtful: cut off",
    )
