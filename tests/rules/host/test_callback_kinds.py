"""What a library calls back for, and where that is said: short calls, many of them, that arrays would do without."""

from __future__ import annotations

import pytest

from gpuprof.analyses.accounts.library_callbacks import PER_ITEM
from gpuprof.analyses.basics.result import Results
from gpuprof.model.operands import Operand
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.host.callback_kinds import _BY_FUNCTION
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import library
from tests.rules.cases.host.python_callback_per_item import SOURCE, called_back, given
from tests.support.trace_builder import CELL_FILE

Frame = tuple[str, str, int]
GROUPS = library("pandas/core/groupby/groupby.py", "GroupBy.apply")
ROWS = (library("pandas/core/frame.py", "DataFrame.apply"), library("pandas/core/apply.py", "FrameColumnApply.apply"))
VALUES = (library("pandas/core/series.py", "Series.map"), library("pandas/core/algorithms.py", "map_array"))
CDIST = (library("scipy/spatial/distance.py", "cdist"), library("scipy/spatial/distance.py", "_cdist_callable"))
NEAR = library("scipy/ndimage/_filters.py", "generic_filter")
ALONG = library("numpy/lib/_shape_base_impl.py", "apply_along_axis")
VECTORIZE = library("numpy/lib/_function_base_impl.py", "vectorize.__call__")
SMALL, LARGE = given("s", "numpy.ndarray", 12), given("s", "pandas.DataFrame", 90_000)
LOOPING = "max(s[i] - s[i - 1] for i in range(len(s)))"


def told(trace: Trace) -> Finding | None:
    answer = rule("python_callback_per_item").judge(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def text(body: str) -> str:
    return SOURCE.replace("s.mean()", body)


@pytest.mark.parametrize(
    ("frames", "title", "operation"),
    [
        ((GROUPS,), "pandas calls Python for each group", "pandas.GroupBy.apply"),
        (ROWS, "pandas calls Python for each row", "pandas.DataFrame.apply"),
        (CDIST, "`cdist` calls Python for each pair", "scipy.cdist"),
        ((NEAR,), "`generic_filter` calls Python for each neighborhood", "scipy.generic_filter"),
        ((ALONG,), "`apply_along_axis` calls Python for each slice", "numpy.apply_along_axis"),
    ],
)
def test_what_was_seen_to_be_called_again_and_again(frames: tuple[Frame, ...], title: str, operation: str) -> None:
    found = told(called_back(500, *frames))
    assert found is not None and found.title.startswith(title) and found.severity == Severity.HIGH
    assert found.evidence["operation"] == operation
    assert "calls a `lambda` repeatedly: 500 ms of the cell, 40 % of that outside" in found.explanation


@pytest.mark.parametrize(
    ("frames", "title"),
    [(VALUES, "pandas calls Python for each value"), ((VECTORIZE,), "`np.vectorize` calls Python for each element")],
)
def test_single_numbers_by_the_text_alone(frames: tuple[Frame, ...], title: str) -> None:
    source = text("0.5 * s if abs(s) < 3 else math.log1p(s)")
    found = told(called_back(500, *frames, source=source, outside=0.0, parts=1))
    assert found is not None and found.title.startswith(title)
    # whatever that does, it is no arithmetic
    assert told(called_back(500, *frames, source=text("parse(s)"))) is None
    assert told(called_back(500, *frames, source=source, seen=(given("s", "builtins.str", 300),))) is None


@pytest.mark.parametrize(
    ("frames", "body", "seen"),
    [
        # a pair of short vectors, a window
        (CDIST, "abs(s).sum()", SMALL),
        ((library("pandas/core/window/rolling.py", "Rolling.apply"),), "s.mean()", SMALL),
    ],
)
def test_small_arrays_by_the_text_and_what_was_given(frames: tuple[Frame, ...], body: str, seen: Operand) -> None:
    quick = {"outside": 0.02, "source": text(body)}
    assert told(called_back(500, *frames, seen=(seen,), **quick)) is not None  # type: ignore[arg-type]
    assert told(called_back(500, *frames, **quick)) is None  # type: ignore[arg-type]
    looping = {**quick, "source": text(LOOPING)}
    assert told(called_back(500, *frames, seen=(seen,), **looping)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "trace",
    [
        # few groups, each large
        called_back(500, GROUPS, seen=(LARGE,)),
        # each call is long
        called_back(500, GROUPS, outside=0.1, source=text("fit_line(s)")),
        # seen four times only
        called_back(500, GROUPS, parts=2, source=text("fit_line(s)")),
        # a model for each row
        called_back(500, *ROWS, inner=(library("torch/nn/modules/module.py", "Module._call_impl"),)),
        # whatever else calls back
        called_back(500, library("scipy/integrate/_ivp/ivp.py", "solve_ivp")),
        called_back(500, library("sklearn/preprocessing/_function_transformer.py", "FunctionTransformer.transform")),
        called_back(500, library("joblib/parallel.py", "Parallel.__call__")),
        # a column at a time
        called_back(500, ROWS[0], library("pandas/core/apply.py", "FrameRowApply.apply")),
    ],
)
def test_where_a_callback_is_the_point(trace: Trace) -> None:
    assert told(trace) is None


@pytest.mark.parametrize(("axis", "told_of"), [("axis=1", True), ("axis='columns'", True), ("axis=0", False)])
def test_rows_are_known_by_the_text_as_well(axis: str, told_of: bool) -> None:
    source = SOURCE.replace("rolling(28).apply(lambda s: s.mean())", f"apply(lambda s: s.a * s.b, {axis})")
    frames = (ROWS[0], library("pandas/core/apply.py", "FrameApply.apply_standard"))
    assert (told(called_back(500, *frames, source=source)) is not None) is told_of


def test_the_functions_are_those_by_which_loops_of_libraries_are_counted() -> None:
    for _, prefixes in _BY_FUNCTION:
        assert all(each.startswith(PER_ITEM) for each in prefixes)


def test_of_a_long_function_only_what_the_library_takes_counts() -> None:
    found = told(called_back(500, GROUPS, source=text(LOOPING)))
    assert found is not None and found.saving is not None
    assert found.severity == Severity.MEDIUM and abs(found.saving.share - 0.2) < 0.01


def test_a_function_in_a_module_is_judged_by_what_was_seen() -> None:
    callback = ("/home/me/features.py", "ratio", 7)
    found = told(called_back(500, *ROWS, callback=callback))
    assert found is not None and "calls `ratio` repeatedly" in found.explanation
    assert told(called_back(500, *VALUES, callback=callback)) is None
    # what pandas takes for one row below the function goes with the rest, the function's own work does not
    assert told(called_back(500, *ROWS, callback=callback, outside=0.12)) is None
    get = library("pandas/core/series.py", "Series.__getattr__")
    found = told(called_back(500, *ROWS, callback=callback, outside=0.12, inner=(get,)))
    assert found is not None and found.saving is not None and abs(found.saving.share - 0.28) < 0.01


def test_a_generator_that_pandas_goes_through_is_no_callback() -> None:
    assert told(called_back(500, GROUPS, callback=(CELL_FILE, "features.<locals>.<genexpr>", 2))) is None


def test_the_changes_as_written_give_the_same_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    windows = told(called_back(500, library("pandas/core/window/rolling.py", "Rolling.apply")))
    values = told(called_back(500, *VALUES, source=text("d.get(s, 9.0)"), outside=0.0, parts=1))
    assert windows is not None and values is not None
    series, d = pandas.Series([1.0, 2.0, 4.0, 8.0]), {1.0: 5.0, 4.0: 6.0}
    for part in ("`w.std(ddof=1)` for `w.std()`", "`w[-1]` for `w.iloc[-1]`"):
        assert part in windows.change
        raw, plain = part.strip("`").split("` for `")
        one = series.rolling(2).apply(lambda w, raw=raw: eval(raw, {"w": w}), raw=True)
        pandas.testing.assert_series_equal(
            one, series.rolling(2).apply(lambda w, plain=plain: eval(plain, {"w": w}), raw=False)
        )
    assert "`.map(d).fillna(default)` where it calls `d.get(x, default)`" in values.change
    looked_up = eval("series.map(d).fillna(default)", {"series": series, "d": d, "default": 9.0})
    pandas.testing.assert_series_equal(looked_up, series.map(lambda x: d.get(x, 9.0)))
