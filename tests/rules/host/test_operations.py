"""Which lines are in the table, by their text and what their names stood for; and which are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import DEEPCOPY, MODEL, calls, library
from tests.rules.cases.host.costly_call_per_item import SOURCE as COSTLY
from tests.rules.cases.host.whole_collection_per_item import SOURCE, lookups, operand
from tests.support.trace_builder import CELL_FILE, TraceBuilder

LIST, ARRAY, TABLE = "builtins.list", "numpy.ndarray", "pandas.DataFrame"


def told(name: str, trace: Trace) -> Finding | None:
    answer = rule(name).judge(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def of_all(line: str, over: Operand | None) -> Finding | None:
    return told(
        "whole_collection_per_item", lookups(source=SOURCE.replace(SOURCE.splitlines()[1], f"    {line}"), over=over)
    )


@pytest.mark.parametrize(
    ("line", "over", "title"),
    [
        (
            "return [sum(rewards[t:]) for t in range(len(rewards))]",
            operand("rewards", LIST, 500),
            "A part of a list of 500 items is summed again",
        ),
        ("return each in words", operand("words", LIST, 70), "A list of 70 items is searched"),
        (
            "return table[table.user == user]",
            operand("table", TABLE, 5000),
            "A DataFrame of 5,000 rows is compared",
        ),
        (
            "return table.loc[table['user'] == u, 'x']",
            operand("table", TABLE, 5000),
            "A DataFrame of 5,000 rows",
        ),
        ("return np.where(ids == each)[0]", operand("ids", ARRAY, 5000), "An array of 5,000 items is compared"),
        (
            "return sample(list(memory), n)",
            operand("memory", "collections.deque", 9000),
            "A deque of 9,000 items is read",
        ),
        (
            "return np.array([row[1] for row in memory])[picked]",
            operand("memory", LIST, 9000),
            "A list of 9,000 items is converted",
        ),
        (
            "rows, marks = zip(*memory)",
            operand("memory", LIST, 9000),
            "A list of 9,000 items is read",
        ),
        (
            "return sorted(seen.items())",
            operand("seen", "builtins.dict", 9000),
            "A dict of 9,000 items is read in full",
        ),
        (
            "return rng.choice(n, p=w)",
            operand("w", ARRAY, 600),
            "The probabilities in an array of 600 items are prepared",
        ),
        ("return rng.permutation(ids)[:k]", operand("ids", ARRAY, 5000), "All of an array of 5,000 items is shuffled"),
        ("return np.isin(batch, known)", operand("known", ARRAY, 5000), "An array of 5,000 items is searched in full"),
        ("return np.setdiff1d(known, seen)", operand("known", LIST, 5000), "A list of 5,000 items is searched in full"),
        (
            "t = pd.concat([t, row])",
            operand("t", TABLE, 600, least=1, same=False),
            "A DataFrame of 600 rows is copied",
        ),
        ("t = ''.join(p[i] for i in ids)", operand("ids", LIST, 4000, least=9), "A list of 4,000 items grows"),
        ("return np.array(rows)[picked]", operand("rows", LIST, 4000), "A list of 4,000 items is converted in full"),
        ("return torch.tensor(rows)[i]", operand("rows", LIST, 4000, least=9), "A list of 4,000 items is converted"),
    ],
)
def test_all_of_one_object(line: str, over: Operand, title: str) -> None:
    found = of_all(line, over)
    assert found is not None and found.title.startswith(title)
    assert found.evidence["object"] == over.name


@pytest.mark.parametrize(
    ("line", "over"),
    [
        ("return each in words", operand("words", "builtins.set", 70_000)),
        ("return words.index(each)", operand("words", LIST, 20)),
        ("return words[each]", operand("words", LIST, 70_000)),
        # all of it is used, or nothing says that little is
        ("return random.shuffle(ids)", operand("ids", LIST, 5000)),
        ("return rng.permutation(ids).mean()", operand("ids", ARRAY, 5000)),
        ("return table[table.user == table.owner]", operand("table", TABLE, 5000)),
        ("return ids[3] == each", operand("ids", ARRAY, 5000)),
        ("return list(batch)", operand("batch", LIST, 32)),
        ("return rng.choice(n)", operand("w", ARRAY, 600)),
        ("t = pd.concat([a, b])", operand("t", TABLE, 600, least=1)),
        ("t = pd.concat([t, row])", operand("t", TABLE, 600, least=590)),
        ("t = ''.join(p[i] for i in ids)", operand("ids", LIST, 4000)),
        ("return words.index(each)", None),
        ("return rng.permutation(ids)", operand("ids", ARRAY, 50)),
        ("return np.isin(batch, known)", operand("known", ARRAY, 5000, same=False)),
        ("return np.isin(batch, known)", operand("batch", ARRAY, 64)),
        # what is picked from it, and a short one
        ("return np.array([rows[i] for i in picked])", operand("rows", LIST, 4000)),
        ("return torch.tensor(rows)", operand("rows", LIST, 256)),
        # another one each time
        ("return torch.tensor(rows)", operand("rows", LIST, 70_000, same=False)),
        ("return words.index(each)", operand("words", LIST, 70_000, same=False)),
        ("return sorted(words)", operand("words", LIST, 70_000, same=False)),
    ],
)
def test_what_is_not_in_the_table(line: str, over: Operand | None) -> None:
    assert of_all(line, over) is None


@pytest.mark.parametrize(
    ("function", "change"), [("savez", "Write every so many"), ("savez_compressed", "Write without compression")]
)
def test_a_file_that_is_compressed_costs_for_that(function: str, change: str) -> None:
    found = told("costly_call_per_item", calls(300, library("numpy/lib/_npyio_impl.py", function)))
    assert found is not None and found.change.startswith(change)


@pytest.mark.parametrize(
    ("frames", "title"),
    [
        ((library("re/__init__.py", "sub"), library("re/_compiler.py", "compile")), "Regular expressions are compiled"),
        ((library("torch/serialization.py", "save"),), "`torch.save` writes"),
        ((library("torch/_tensor.py", "Tensor.__format__"), library("torch/_tensor_str.py", "_str")), "Whole tensors"),
        (
            (
                library("pandas/core/generic.py", "NDFrame.to_csv"),
                library("pandas/io/formats/format.py", "DataFrameFormatter.to_csv"),
            ),
            "`pandas.to_csv` writes",
        ),
        ((library("matplotlib/figure.py", "Figure.savefig"),), "Figures are drawn"),
    ],
)
def test_costly_calls(frames: tuple[tuple[str, str, int], ...], title: str) -> None:
    source = COSTLY.replace("copy.deepcopy(game)", "copy.deepcopy(game); axes.clear()")
    found = told("costly_call_per_item", calls(300, *frames, source=source))
    assert found is not None and found.title.startswith(title) and found.severity == Severity.MEDIUM


def test_single_items_of_a_table_by_their_text() -> None:
    pandas = library("pandas/core/indexing.py", "_iLocIndexer.__getitem__")
    source = "for i in order:\n    for j in near:\n        x = table.iloc[i]\n"
    found = told("costly_call_per_item", calls(300, pandas, source=source))
    assert found is not None and found.title.startswith("pandas looks up values or rows for each item")
    assert (
        told("costly_call_per_item", calls(300, pandas, source=source.replace(".iloc[i]", ".groupby(i).sum()"))) is None
    )


@pytest.mark.parametrize(
    "frames",
    [
        # a pattern that is known already
        (library("re/__init__.py", "sub"), library("re/__init__.py", "_compile")),
        (library("pandas/io/parsers/readers.py", "read_csv"), library("pandas/core/frame.py", "DataFrame.__init__")),
        (library("torch/serialization.py", "load"),),
    ],
)
def test_calls_that_only_look_like_it(frames: tuple[tuple[str, str, int], ...]) -> None:
    source = "for i in order:\n    for j in near:\n        x = table.iloc[i]\n"
    assert told("costly_call_per_item", calls(900, *frames, source=source)) is None


def test_other_libraries_are_not_judged() -> None:
    assert told("costly_call_per_item", calls(900, library("sklearn/metrics/_ranking.py", "roc_auc_score"))) is None


def test_lines_out_of_any_loop_run_once() -> None:
    source = "def encode(text):\n    return words.index(text)\n\nids = encode(text)\n"
    assert told("whole_collection_per_item", lookups(source=source, loops=False)) is None


def test_only_the_last_result_is_read() -> None:
    source = "def draw(step):\n    return sorted(step)\n\nfor step in steps:\n    shown = draw(step)\nprint(shown)\n"
    found = told("costly_call_per_item", lookups(source=source, over=None))
    assert found is not None
    assert found.title == "`draw` runs repeatedly, but only its last result is used: 50 % of the cell"
    assert "Line 5 calls it: `shown` gets a value in each iteration of the loop in line 4" in found.explanation
    assert told("costly_call_per_item", lookups(source=f"{source.rstrip()[:-12]}    print(shown)\n", over=None)) is None


@pytest.mark.parametrize(
    ("line", "kind", "told_of"),
    [
        ("d = nx.shortest_path_length(graph, u, v)", "networkx.classes.graph.Graph", True),
        ("d = graph.query(point)", "scipy.spatial.KDTree", True),
        ("d = graph.step(action)", "gymnasium.core.Env", False),
        ("d = measure(graph, u)", "__main__.Plan", False),
        ("d = measure(graph, u)", "numpy.ndarray", False),
    ],
)
def test_one_object_of_a_library_in_nested_loops(line: str, kind: str, told_of: bool) -> None:
    source = f"for u in points:\n    for v in points:\n        {line}\n"
    trace = calls(900, library("other/search.py", "search"), source=source)
    graph = Operand(file=CELL_FILE, first=1, last=3, name="graph", kind=kind, looks=9, holds=500)
    seen = structs.replace(trace.context, operands=Operands(looks=9, seen=(graph,)))
    found = told("costly_call_per_item", replace(trace, context=seen))
    assert (found is not None) is told_of
    assert found is None or found.severity == Severity.MEDIUM


@pytest.mark.parametrize(
    ("line", "items", "told_of"),
    [
        ("x = torch.tensor(rows)", ARRAY, True),
        ("x = torch.tensor([rows[i] for i in picked])", ARRAY, True),
        ("x = torch.from_numpy(np.stack(rows))", ARRAY, False),
        ("x = torch.tensor([rows[0] for i in picked])", ARRAY, True),
        ("x = torch.tensor([rows[1] for i in picked])", ARRAY, False),
        ("x = torch.tensor(np.array(rows))", ARRAY, False),
        ("x = torch.tensor(rows)", "builtins.float", False),
        ("x = torch.stack(rows)", "torch.Tensor", False),
    ],
)
def test_a_list_of_arrays_is_slow_wherever_it_is_read(line: str, items: str, told_of: bool) -> None:
    over = structs.replace(operand("rows", LIST, 256, same=False), items=items)
    source = SOURCE.replace(SOURCE.splitlines()[1], f"    {line}")
    for where in (source, source.replace("for text in texts:", "if texts:")):
        found = told("costly_call_per_item", lookups(source=where, over=over))
        assert (found is not None) is told_of
        if found is not None:
            assert found.title == "`torch.tensor` reads a list of arrays number by number: 50 % of the cell"
            assert ("`rows` is a list of 256 arrays" in found.explanation) is line.endswith("(rows)")
            once = where != source and "for i in" not in line
            assert ("runs once and takes 500 ms" in found.explanation) is once


ANEW = """def encode(rows):
    rows = torch.FloatTensor(rows)

for text in texts:
    ids = encode(text)
    model(torch.tensor(ids))
import numpy as np
"""


def _bound_anew(items: str, for_ms: float = 500, source: str = ANEW) -> Finding | None:
    """The name stands for a tensor most of the time, and for a tuple before its line."""
    made = operand("rows", "torch.Tensor", None)
    before = structs.replace(operand("rows", "builtins.tuple", 128, same=False), items=items, looks=2)
    trace = lookups(for_ms, source=source)
    seen = structs.replace(trace.context, operands=Operands(looks=9, seen=(made, before)))
    return told("costly_call_per_item", replace(trace, context=seen))


def test_arrays_that_give_their_name_to_the_tensor() -> None:
    found = _bound_anew(ARRAY)
    assert found is not None
    assert found.title == "`torch.FloatTensor` reads a list of arrays number by number: 50 % of the cell"
    assert "`rows` is a tuple of 128 arrays" in found.explanation
    assert found.diff is not None
    assert "-    rows = torch.FloatTensor(rows)\n+    rows = torch.FloatTensor(np.stack(rows))\n" in found.diff
    without = _bound_anew(ARRAY, source=ANEW.replace("import numpy as np", "pass"))
    assert without is not None and without.diff is None


@pytest.mark.parametrize("items", ["builtins.float", "builtins.int", "numpy.float32", "torch.Tensor", ""])
def test_numbers_and_tensors_that_give_their_name_to_the_tensor(items: str) -> None:
    assert _bound_anew(items) is None


@pytest.mark.parametrize(
    ("element", "told_of"),
    [("t.numpy()", True), ("np.array(t)", True), ("np.zeros(9)", True), ("np.mean(t)", False), ("f(t)", False)],
)
def test_arrays_that_a_comprehension_makes(element: str, told_of: bool) -> None:
    source = SOURCE.replace(SOURCE.splitlines()[1], f"    return torch.tensor([{element} for t in text])")
    assert (told("costly_call_per_item", lookups(source=source, over=None)) is not None) is told_of


PREPARED = """import numpy as np
def prepare(x):
    return np.sort(x)
X = np.zeros(9)
for width in (8, 16, 32, 64):
    ready = prepare(X)
    out[width] = model(ready, width)
"""


def test_the_same_again_for_each_configuration() -> None:
    found = told("costly_call_per_item", prepared(PREPARED))
    assert found is not None and found.saving is not None
    assert found.title == "`prepare` computes the same again in each iteration: 50 % of the cell"
    assert "Line 6 calls it: nothing that `prepare` is given depends on the loop in line 5" in found.explanation
    # three of four; the first is needed
    assert found.severity == Severity.MEDIUM and abs(found.saving.share - 0.375) < 1e-9
    assert told("costly_call_per_item", prepared(PREPARED.replace("prepare(X)", "prepare(X * width)"))) is None


@pytest.mark.parametrize(
    ("kind", "items", "told_of"),
    [(ARRAY, "", True), (LIST, "builtins.float", True), (LIST, "torch.Tensor", False), ("__main__.Net", "", False)],
)
def test_of_what_the_text_does_not_know_the_looks_say_what_it_is(kind: str, items: str, told_of: bool) -> None:
    source = PREPARED.replace("X = np.zeros(9)", "X = given")
    over = Operand(file=CELL_FILE, first=5, last=7, name="X", kind=kind, items=items, looks=3, most=9)
    assert (told("costly_call_per_item", prepared(source, over)) is not None) is told_of
    assert told("costly_call_per_item", prepared(source)) is None


def prepared(source: str, *seen: Operand) -> Trace:
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at = part * 100_000 + 1
        builder.stack(at, 50_000, (CELL_FILE, "<module>", 6), (CELL_FILE, "prepare", 3))
        builder.stack(at + 50_000, 50_000, (CELL_FILE, "<module>", 7), MODEL)
    operands = Operands(looks=9, seen=seen)
    return builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=operands).build()


def test_what_a_library_calls_for_each_row_runs_repeatedly() -> None:
    """Without a loop in the text: pandas has it."""
    source = "def spend(row):\n    return orders[orders.user == row.id].v.sum()\n\nusers.apply(spend, axis=1)\n"
    apply = (library("pandas/core/frame.py", "DataFrame.apply"), library("pandas/core/apply.py", "FrameApply.apply"))
    for through, told_of in ((apply, True), (apply[:1], False)):
        builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
        builder.stack(1, 600_000, (CELL_FILE, "<module>", 4), *through, (CELL_FILE, "spend", 2))
        builder.stack(600_001, 399_999, (CELL_FILE, "<module>", 5), MODEL)
        operands = Operands(looks=9, seen=(operand("orders", TABLE, 60_000),))
        trace = builder.context(cell=Cell(source=source, filename=CELL_FILE), operands=operands).build()
        found = told("whole_collection_per_item", trace)
        assert (found is not None) is told_of
        assert found is None or found.title.startswith("A DataFrame of 60,000 rows is compared in full for each item")


@pytest.mark.parametrize(
    ("line", "frame", "change", "severity"),
    [
        ("np.save(f'{move}.npy', game)", library("numpy/lib/_npyio_impl.py", "save"), "Put many items", Severity.LOW),
        ("np.save('last.npy', game)", library("numpy/lib/_npyio_impl.py", "save"), "Write every so", Severity.HIGH),
        ("best = copy.deepcopy(net.state_dict())", DEEPCOPY, "Make the copy once", Severity.MEDIUM),
    ],
)
def test_files_of_items_and_copies_of_states_have_their_own_advice(
    line: str, frame: tuple[str, str, int], change: str, severity: Severity
) -> None:
    source = COSTLY.replace("after = copy.deepcopy(game)", line)
    found = told("costly_call_per_item", calls(500, frame, source=source))
    assert found is not None and found.change.startswith(change) and found.severity == severity
    assert "for many items at once" not in found.leave_it


def test_a_list_that_gets_longer_is_searched_by_a_set_beside_it() -> None:
    found = of_all("return each in words", operand("words", LIST, 700, least=7))
    assert found is not None and found.change.startswith("Keep a set beside `words`")


def test_draws_without_replacement_stay_so() -> None:
    found = of_all("return rng.choice(n, 20, replace=False, p=w)", operand("w", ARRAY, 600))
    assert found is not None and found.change.startswith("Draw without replacement")


def test_groups_of_what_changes_in_the_loop_would_be_out_of_date() -> None:
    assert of_all("z[u] = draw(ids[z == u])", operand("z", ARRAY, 5000)) is None
