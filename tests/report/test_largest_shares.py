"""What the verdict says beside the findings."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from gpuprof.analyses.accounts.hot_spot import HotSpot
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.model.intervals import Intervals
from gpuprof.model.look import Look, LookedPlace
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.report.largest_shares import _speaks_of, elsewhere, explained_share, goes_to, minor_only
from gpuprof.report.verdict import Verdict
from gpuprof.rules.base.finding import Finding, Saving, Severity, Where
from tests.analyses.accounts.cells import cell, line
from tests.support.trace_builder import TraceBuilder

SCALE = ("/home/me/site-packages/images.py", "scale", 9)


def attention_after(host_us: int) -> Trace:
    """The host is in a function for so long; then a product in fp32, for which it waits."""
    builder = TraceBuilder().device(0, "NVIDIA A100-SXM4-80GB", compute_capability=(8, 0))
    builder.operator("aten::mm", 0, host_us + 500).kernel("vectorized_elementwise_kernel", 5, 5, launch_at_us=0)
    builder.frame("images.py(9): scale", 12, host_us - 12)
    builder.kernel("ampere_sgemm_128x64_tn", host_us + 10, 450, launch_at_us=host_us).sync(host_us + 6, 490)
    return builder.build()


def test_idle_time_that_no_finding_speaks_of_is_named() -> None:
    said = Report.of(attention_after(1_000)).verdict.advice
    assert said.startswith(
        "No finding explains a large share of the time: 66 % GPU idle while the CPU was in aten::mm."
    )
    assert "Worth changing: 99 % of the kernel time is fp32" in said and "Besides that" not in said


def test_little_beside_the_findings_is_left_to_the_table() -> None:
    assert "Besides that" not in Report.of(attention_after(50)).verdict.advice


def test_a_wait_for_work_that_was_not_recorded_is_no_work_of_the_cpu() -> None:
    builder = TraceBuilder().operator("aten::to", 0, 950).operator("aten::mm", 905, 40)
    builder.copy("d2h", 900, 5, launch="cudaMemcpy", launch_at_us=0, launch_for_us=905)
    builder.kernel("gemm", 915, 30, launch_at_us=910).sync(920, 25)
    said = Report.of(builder.build()).verdict.advice
    assert "in cudaMemcpy, with no work of the device recorded meanwhile" in said
    assert "CPU was in cudaMemcpy" not in said


def test_without_a_device_another_line_than_the_findings_is_named() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 80_000, line(7), SCALE).stack(80_000, 20_000, line(5))
    results = Report.of(cell(builder)).results

    def finding(*lines: int) -> Finding:
        return Finding("host_cpu_bound", Severity.HIGH, "A", "B.", {}, "C.", where=Where(lines=lines))

    assert elsewhere(results, (finding(5),))[1].startswith("80 % line 9 of images.py")
    assert elsewhere(results, (finding(5), finding(7))) == (0.0, "")
    assert elsewhere(results, (finding(),)) == (0.0, "")


def test_a_line_that_leads_there_is_spoken_of() -> None:
    """`apply` in line 7 calls the function in line 2."""
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 85_000, line(7), SCALE, line(2, "features")).stack(85_000, 15_000, line(5))
    results = Report.of(cell(builder)).results

    def finding(*lines: int) -> Finding:
        return Finding("python_callback_per_item", Severity.HIGH, "A", "B.", {}, "C.", where=Where(lines=lines))

    assert elsewhere(results, (finding(7),)) == (0.0, "")
    assert elsewhere(results, (finding(2),)) == (0.0, "")
    assert "line 2" in elsewhere(results, (finding(5),))[1]


def test_the_largest_of_those_that_no_finding_speaks_of() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 60_000, line(7)).stack(60_000, 40_000, line(5))
    results = Report.of(cell(builder)).results
    found = Finding("host_cpu_bound", Severity.HIGH, "A", "B.", {}, "C.", where=Where(lines=(7,)))
    assert elsewhere(results, (found,))[1].startswith("40 % line 5")


def test_minor_findings_do_not_explain_a_large_share() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 80_000, line(7)).stack(80_000, 20_000, line(5))
    results = Report.of(cell(builder)).results

    def minor(*lines: int) -> str:
        found = Finding("unfused_optimizer", Severity.LOW, "A", "B.", {}, "C.", where=Where(lines=lines))
        return minor_only(results, (found,))

    said = minor(5)
    assert said.startswith("No rule applies to the largest shares of the time: 80 % line 7")
    assert said.endswith("Below: 1 minor finding.")
    assert minor(7).startswith("Only 1 minor finding, below. The largest shares of the time: 80 % line 7")


def test_a_minor_saving_on_the_line_does_not_explain_most_of_its_share() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 30_000, line(7)).stack(30_000, 20_000, line(5)).stack(50_000, 25_000, line(3))
    results = Report.of(cell(builder)).results

    def said(share: float) -> str:
        saving = Saving(0.0, 1.0, 2.0, share, "C", "estimate")
        where = Where(lines=(7,))
        found = Finding("repeated_work", Severity.LOW, "A", "B.", {}, "C.", where=where, saving=saving)
        return minor_only(results, (found,))

    assert said(0.05).startswith("No finding explains most of the largest shares of the time: 40 % line 7")
    assert said(0.199).startswith("No finding explains most of")
    assert said(0.05).endswith("Below: 1 minor finding.")


def test_a_minor_finding_of_a_large_saving_comes_first() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 80_000, line(7)).stack(80_000, 20_000, line(5))
    results = Report.of(cell(builder)).results

    def minor(share: float) -> Finding:
        saving = Saving(0.0, 1.0, 2.0, share, "C", "estimate")
        return Finding("unread_gradients", Severity.LOW, f"Saves {share}", "B.", {}, "C.", saving=saving)

    assert minor_only(results, (minor(0.1), minor(0.3))) == (
        "Not certain, but worth a look: Saves 0.3 (saves about 30% (29–49%)). 2 minor findings below."
    )
    assert "could save" not in minor_only(results, (minor(0.1), minor(0.19)))


def test_a_finding_without_lines_is_not_the_cause_of_a_larger_share() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 50_000, line(7)).stack(50_000, 50_000, line(5))
    results = Report.of(cell(builder)).results

    def finding(share: float) -> Finding:
        saving = Saving(0.0, 1.0, 2.0, share, "C", "estimate")
        return Finding("unfused_optimizer", Severity.MEDIUM, "A", "B.", {}, "C.", saving=saving)

    assert elsewhere(results, (finding(0.06),))[1].startswith("50 %")
    assert elsewhere(results, (finding(0.5),)) == (0.0, "")


def test_whether_needless_work_was_looked_for() -> None:
    def said(**facts: Any) -> str:
        builder = TraceBuilder().operator("aten::mm", 0, 1).stack(0, 80_000, line(7))
        trace = cell(builder)
        context = msgspec.structs.replace(trace.context, look=Look(**facts))
        return Report.of(dataclasses.replace(trace, context=context)).verdict.headline

    assert said(skipped="the cell was too short").endswith(
        "The cell was not checked for needless work: the cell was too short."
    )
    assert "needless" not in said()
    seen = LookedPlace("", 7, "<module>")
    assert said(places=(seen,), operators_share=0.7).endswith("and the close look ended before that.")
    assert "needless" not in said(places=(seen,), operators_share=0.8)


def test_captured_graphs_are_no_steady_state() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 100).call("cudaGraphInstantiate", 0, 55)
    builder.kernel("gemm", 60, 5, launch_at_us=58)
    report = Report.of(builder.build())
    assert report.verdict.headline.startswith("CUDA graphs are captured here, so this is no steady state. The device")


def test_a_saving_far_below_the_largest_share_does_not_come_first() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 60_000, line(7)).stack(60_000, 40_000, line(5))
    trace = cell(builder)
    report = Report.of(trace)

    def said(share: float, line: int) -> str:
        saving = Saving(0.0, 1.0, 2.0, share, "C", "estimate")
        where = Where(lines=(line,))
        found = Finding("unfused_optimizer", Severity.MEDIUM, "A title", "B.", {}, "C.", where=where, saving=saving)
        return Verdict.of(trace, report.results, dataclasses.replace(report.gate, findings=(found,))).advice

    assert said(0.10, 5).startswith("No finding explains a large share of the time: 60 % line 7")
    assert "Worth changing: A title" in said(0.10, 5) and "Besides that" not in said(0.10, 5)
    assert said(0.35, 5).startswith("Worth changing: A title") and "Besides that: 60 % line 7" in said(0.35, 5)
    assert said(0.25, 7).startswith("Worth changing: A title") and "Besides that: 40 %" in said(0.25, 7)
    # the two are more than all of the time
    assert "Besides that: 60 % line 7" in said(0.40, 5)
    assert "Another large place, which partly overlaps: 60 % line 7" in said(0.41, 5)
    # what it covers is said where what it saves is another share
    assert "It concerns work that takes 60 % of the cell." in said(0.25, 7) and "Its cause" not in said(0.58, 7)


def test_on_a_device_a_small_saving_hides_no_idle_time() -> None:
    results = Report.of(attention_after(1_000)).results

    def finding(share: float) -> Finding:
        saving = Saving(0.0, 1.0, 2.0, share, "C", "estimate")
        return Finding("launch_bound", Severity.MEDIUM, "A", "B.", {}, "C.", saving=saving)

    assert elsewhere(results, (finding(0.05),))[1].startswith("66 % GPU idle")
    assert elsewhere(results, (finding(0.5),)) == (0.0, "")


@pytest.mark.parametrize(("work_us", "named"), [(40_000, "line 7"), (4_000, "line 1")])
def test_an_import_is_named_only_where_there_is_little_else(work_us: int, named: str) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    builder.stack(0, 60_000, line(1), ("<frozen importlib._bootstrap>", "_find_and_load", 1))
    builder.stack(60_000, work_us, line(7))
    results = Report.of(cell(builder)).results
    assert named in goes_to(results).split(";")[0]
    assert ("line 1 " in goes_to(results)) == (named == "line 1")


def test_what_findings_cover_is_the_time_of_their_lines_or_their_times() -> None:
    def about(*lines: int, save: float = 0.1, during: tuple[int, int] | None = None) -> Finding:
        saving = Saving(0.0, 1.0, 2.0, save, "C", "estimate")
        within = None if during is None else Intervals(*(np.array([each]) for each in during))
        where = Where(lines=lines)
        return Finding("host_cpu_bound", Severity.HIGH, "A", "B.", {}, "C.", where=where, saving=saving, during=within)

    builder = TraceBuilder().operator("aten::mm", 0, 1).stack(0, 30_000, line(5), line(3, "f"))
    builder.stack(30_000, 20_000, line(7)).stack(50_000, 50_000, line(9))
    sampled = Report.of(cell(builder)).results
    assert explained_share(sampled, (about(5), about(3), about(7))) == pytest.approx(0.5)
    assert explained_share(sampled, (about(7), about(save=0.4))) == pytest.approx(0.4)
    assert explained_share(sampled, ()) == 0.0

    recorded = Report.of(TraceBuilder().operator("aten::mm", 0, 100).build()).results
    both = (about(during=(0, 60_000)), about(during=(50_000, 200_000)))
    assert explained_share(recorded, both[:1]) == pytest.approx(0.6)
    assert explained_share(recorded, both) == 1.0


def test_a_finding_speaks_of_the_lines_of_its_own_cell_and_of_each_of_several() -> None:
    spot = HotSpot(60, 0.6, Phase.FORWARD, "", source_file="a", is_cell=True, line=7, lines=((5, 0.3), (7, 0.3)))
    elsewhere_defined = replace(spot, is_cell=False, cell_line=20)

    def speaks(of: HotSpot, line: int) -> bool:
        return _speaks_of(Finding("unread", Severity.HIGH, "A", "B.", {}, "C.", where=Where(lines=(line,))), of)

    assert speaks(spot, 7) and speaks(spot, 5) and not speaks(spot, 6)
    assert speaks(elsewhere_defined, 20) and not speaks(elsewhere_defined, 7) and not speaks(elsewhere_defined, 5)
