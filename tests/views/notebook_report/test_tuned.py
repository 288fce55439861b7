"""What a search for settings found, as text and as a card."""

from __future__ import annotations

import json
from dataclasses import replace

from gpuprof.verification.tuning.race import Standing
from gpuprof.verification.tuning.tuning import TriedSettings, Tuning
from gpuprof.views.notebook_report.tuned import tuned_html, tuned_text

BEFORE = "# %%gpuprofile\nloader = DataLoader(data)\nfor x in loader:\n    step(x)\n"
TUNING = Tuning(
    settings=("num_workers=2", "fused=True"),
    nearest=("num_workers=2", "fused=True"),
    ratio=1.84,
    low=1.79,
    high=1.9,
    turns=12,
    proven=True,
    unchanged_again=Standing(12, 1.0, 0.99, 1.01),
    same_results="loss identical over 20 steps",
    tried=(
        TriedSettings(("num_workers=2", "fused=True"), 9, 1.85, 1.7, 2.0, "best"),
        TriedSettings(("num_workers=1",), 5, 1.2, None, None, "slower than num_workers=2"),
        TriedSettings(("TF32 products",), 0, None, None, None, "results differ: <losses>", changes_results=True),
    ),
    before=BEFORE,
    after=BEFORE.replace("(data)", "(data, num_workers=2)"),
    seconds=41.0,
    step_ns=(12e6, 6.5e6),
)


def test_the_text_says_the_best_its_proof_and_all_that_was_tried() -> None:
    lines = tuned_text(TUNING, insert=True).splitlines()
    assert (
        lines[0] == "num_workers=2 + fused=True: measured 1.84× (1.79–1.90) in 12 turns, loss identical over 20 steps"
    )
    assert "  a step takes 12.0 ms before and 6.50 ms after" in lines
    assert "  the unchanged cell against itself, in the same turns: 1.00× (0.99–1.01)" in lines
    assert "  confidence 95%, measured on turns that did not choose the settings" in lines
    assert "  num_workers=2 + fused=True           9  1.85×  1.70–2.00  best" in lines
    assert "  num_workers=1                        5  1.20×          –  slower than num_workers=2" in lines
    assert "  TF32 products (changes results)      0      –          –  results differ: <losses>" in lines
    assert " %%gpuprofile" in lines and "+loader = DataLoader(data, num_workers=2)" in lines
    assert lines[-1] == "Insert with %gpufix"


def test_the_card_says_the_same_and_escapes_it() -> None:
    page = tuned_html(TUNING, insert=True)
    assert "num_workers=2 + fused=True: measured 1.84×" in page and "3 combinations tried" in page
    assert "results differ: &lt;losses&gt;" in page and "<losses>" not in page
    assert "+loader = DataLoader(data, num_workers=2)" in page and "<code>%gpufix</code>" in page
    assert not [each for each in ("<script", "<style", " id=", " class=") if each in page]


def test_without_a_gain_nothing_is_to_be_inserted() -> None:
    none = replace(TUNING, settings=(), after=BEFORE, low=0.99, high=1.03, ratio=1.01, step_ns=None)
    for shown in (tuned_text(none, insert=False), tuned_html(none, insert=False)):
        assert "no setting was measured to be faster; num_workers=2 + fused=True came nearest: 1.01×" in shown
        assert "%gpufix" not in shown and "confidence" not in shown and "DataLoader" not in shown


def test_what_was_interrupted_or_changes_results_is_said() -> None:
    text = tuned_text(replace(TUNING, interrupted=True, proven=False, changes_results=True), insert=False)
    assert "interrupted after 41.0 s: this is what was known by then" in text
    assert "not yet measured again on its own" in text and "these settings change results beyond rounding" in text


def test_it_is_plain_json() -> None:
    told = json.loads(json.dumps(TUNING.to_dict()))
    assert told["schema"] == 1 and told["settings"] == ["num_workers=2", "fused=True"] and told["outcome"] == "faster"
    assert told["tried"][2]["changes_results"] and told["unchanged_again"]["ratio"] == 1.0
