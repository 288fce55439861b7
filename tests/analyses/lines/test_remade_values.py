"""Which statements make a value again that they have made before."""

from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.remade_values import RemadeValue, RemadeValues
from gpuprof.model.operands import MadeValue
from gpuprof.model.trace import Trace
from tests.rules.cases.needless.value_made_again import QUANTILES, SOURCE, trials, value
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MS = 1_000_000


def found(trace: Trace) -> tuple[RemadeValue, ...]:
    return Results(trace).get(RemadeValues).values


def test_the_statement_its_time_and_what_it_calls() -> None:
    (each,) = found(trials())
    assert (each.first, each.last, each.function, each.names, each.call) == (2, 2, "trial", ("x",), "features")
    assert (each.ns, each.made, each.contents, each.bytes) == (400 * MS, 10, 1, 80_000)
    assert each.share == pytest.approx(0.4) and each.again == pytest.approx(0.99)
    assert each.during.total_ns == 400 * MS and each.cell_lines == (2,)
    assert each.file == "" and each.execution_count is None and not each.of_object


@pytest.mark.parametrize(
    "values",
    [
        [value(contents=6)],
        [value(contents=0)],
        [value(made=2)],
        [value(told=False)],
        [value(function="train")],
        [value(first=2)],
        [value(file="elsewhere.py")],
        [value(name="y")],
    ],
)
def test_what_is_not_surely_the_same(values: list[MadeValue]) -> None:
    assert not found(trials(40, *values))


def test_half_of_them_may_be_different() -> None:
    (each,) = found(trials(40, value(contents=5)))
    assert each.again == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("statement", "values", "names"),
    [
        ("x, y = features(table)", [value(), value(name="y", told=False)], ("x", "y")),
        ("x, y = features(table)", [value(), value(name="y", contents=9)], ()),
        ("x, y = features(table)", [value()], ()),
        ("x: Table = features(table)", [value()], ("x",)),
        ("x = np.stack([features(each) for each in table])", [value()], ("x",)),
        ("x = table", [value()], ()),
        ("self.x = features(table)", [value()], ()),
        ("self.x = features(table)", [value(name="self.x")], ("self.x",)),
        ("x, tables[0] = features(table)", [value()], ()),
        ("cache[0].x = features(table)", [value(name="cache[0].x")], ()),
        ("x += features(table)", [value()], ()),
    ],
)
def test_statements(statement: str, values: list[MadeValue], names: tuple[str, ...]) -> None:
    trace = trials(40, *values, source=SOURCE.replace("x = features(table)", statement))
    assert [each.names for each in found(trace)] == ([names] if names else [])


def test_one_that_gets_a_value_more_than_once() -> None:
    source = SOURCE.replace("    return train(x, rate)", "    x = train(x, rate); return x")
    assert [(each.first, each.call) for each in found(trials(source=source))] == [(3, "train"), (2, "features")]


def test_of_a_method() -> None:
    assert found(trials(source=SOURCE.replace("features(", "table.fit(scale).transform(")))[0].of_object == "table"


HANDED = """def score(x, rate):
    return train(x, rate)

for rate in rates:
    scores.append(score({}))
"""


def handed(arguments: str, *values: MadeValue) -> tuple[RemadeValue, ...]:
    """Of a cell of 100 ms: 30 in `features`, 10 in `scaled`, both called by line 5, the rest in `score`."""
    builder, line = TraceBuilder(), (CELL_FILE, "<module>", 5)
    builder.stack(0, 30_000, line, (CELL_FILE, "features", 20)).stack(30_000, 10_000, line, (CELL_FILE, "scaled", 30))
    builder.stack(40_000, 60_000, line, (CELL_FILE, "score", 2))
    cell = structs.replace(trials().context.cell, source=HANDED.format(arguments))  # type: ignore[type-var]
    return found(builder.context(cell=cell, made_values=values or (value(function="score"),)).build())


def test_a_call_that_is_handed_to_a_function() -> None:
    (each,) = handed("features(table), rate")
    assert (each.first, each.function, each.names, each.call) == (5, "", ("x",), "features")
    assert (each.handed_to, each.share, each.ns) == ("score", pytest.approx(0.3), 30 * MS)
    assert each.during.total_ns == 30 * MS and each.cell_lines == (5, 20)
    (each,) = handed("rate=rate, x=scaled(features(table))")
    assert each.share == pytest.approx(0.4) and each.call == "features"


@pytest.mark.parametrize("arguments", ["x, rate", "*[features(table)], rate", "rate=features(table)", ""])
def test_what_is_handed_on_by_name_was_made_elsewhere(arguments: str) -> None:
    assert not handed(arguments)


def test_every_call_of_the_function_makes_it_anew() -> None:
    assert not handed("features(table), score(table, rate)")
    assert len(handed("features(table), 0)), print(score(features(table), 1")) == 2


def test_a_function_with_decorators_begins_with_them() -> None:
    (each,) = found(trials(source="@timed\n" + SOURCE))
    assert (each.first, each.share) == (3, pytest.approx(0.6))


def test_the_code_of_the_cell_itself() -> None:
    source = "for rate in rates:\n    x = features(table)\n    train(x, rate)\n"
    builder = TraceBuilder().stack(0, 60_000, (CELL_FILE, "<module>", 2), QUANTILES)
    trace = builder.stack(60_000, 40_000, (CELL_FILE, "<module>", 3)).build()
    cell = structs.replace(trials().context.cell, source=source)  # type: ignore[type-var]
    made = (value(function="<module>"),)
    trace = replace(trace, context=structs.replace(trace.context, cell=cell, made_values=made))
    (each,) = found(trace)
    assert each.function == "" and each.share == pytest.approx(0.6) and each.cell_lines == (2,)
