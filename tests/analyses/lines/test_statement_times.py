"""How long the statements of the cell take, with all that they call."""

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.statement_times import StatementTimes
from tests.rules.cases.needless.last_result_read import SOURCE, steps
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000


def test_a_statement_with_what_it_calls() -> None:
    found = Results(steps(30)).get(StatementTimes)
    assert found.total_ns == 1000 * MS
    by_line = {each.first: each for each in found.statements}
    assert next(iter(by_line)) == 10 and set(by_line) == {5, 10, 11} and by_line[11].last == 11
    assert (by_line[10].ns, by_line[11].ns, by_line[5].ns) == (700 * MS, 300 * MS, 300 * MS)
    assert by_line[11].share == 0.3 and len(by_line[11].during.starts) == 10
    assert by_line[11].called == {"accuracy"} and by_line[11].during.total_ns == 300 * MS


def test_what_calls_nothing_or_takes_little_is_left_out() -> None:
    source = SOURCE.replace("score = accuracy(net)", "score = 3")
    assert 11 not in [each.first for each in Results(steps(30, source)).get(StatementTimes).statements]
    assert [each.first for each in Results(steps(2)).get(StatementTimes).statements] == [10]


def test_without_samples_or_text() -> None:
    assert Results(TraceBuilder().operator("aten::mm", 0, 5).build()).get(StatementTimes).total_ns == 0
    assert Results(steps(30, "for x in (")).get(StatementTimes).statements == ()
