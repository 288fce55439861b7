"""A statement that makes the same value again: how certain it is, and what it advises."""

import dataclasses

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Loader
from gpuprof.model.operands import MadeValue, Operand, Operands
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.rules.cases.host.costly_call_per_item import MODEL, library
from tests.rules.cases.needless.value_made_again import SOURCE, trials, value
from tests.support.trace_builder import CELL_FILE, TraceBuilder


def found(*values: MadeValue, source: str = SOURCE, **context: object) -> Finding:
    trace = trials(40, *values, source=source)
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, **context))
    answer = rule("value_made_again").check(Results(trace))
    assert isinstance(answer, Finding)
    return answer


@pytest.mark.parametrize(
    ("call", "kind", "severity"),
    [
        ("np.stack(table)", None, Severity.HIGH),
        ("env.reset()", None, Severity.LOW),
        ("env.reset()", "__main__.Simulation", Severity.LOW),
        ("scaler.fit_transform(table)", "sklearn.preprocessing._data.StandardScaler", Severity.HIGH),
        ("table.groupby(key).mean()", "pandas.core.frame.DataFrame", Severity.HIGH),
    ],
)
def test_a_method_of_an_object_that_may_keep_a_state_is_not_sure(
    call: str, kind: str | None, severity: Severity
) -> None:
    name = call.partition(".")[0]
    seen = Operand(file=CELL_FILE, first=1, last=3, name=name, kind=kind or "", looks=9)
    operands = Operands(looks=9, seen=(seen,) if kind else ())
    assert found(source=SOURCE.replace("features(table)", call), operands=operands).severity is severity


def test_what_the_notebook_imports_is_no_such_object() -> None:
    source = "import signal_tools as tools\n" + SOURCE.replace("features(table)", "tools.spectrum(table)")
    assert found(value(first=2), source=source).severity > Severity.LOW


def test_a_cell_that_times_its_calls_repeats_them_on_purpose() -> None:
    timing = "for _ in range(9):\n    began = perf_counter()\n    call()\n    print(perf_counter() - began)\n"
    assert found(source=SOURCE + timing).severity is Severity.LOW


def test_several_contents_are_kept_by_what_they_depend_on() -> None:
    finding = found(value(contents=4))
    assert "with only 4 different contents" in finding.explanation
    assert "keep the results (312 KiB): in a dict" in finding.change


def test_what_takes_much_memory_is_not_kept_lightly() -> None:
    assert found(value(contents=4, bytes=600 << 20)).severity is Severity.LOW
    assert found(value(contents=4, bytes=100 << 20)).severity > Severity.LOW


def test_an_argument_is_told_with_its_function() -> None:
    source = """def trial(rate):
    return train(np.fit(table), rate)

for rate in rates:
    scores.append(trial(rate))

def train(x, rate):
    return fit(x)
"""
    finding = found(value(function="train", first=7), source=source)
    assert finding.explanation == (
        "In line 2 in `trial`, `np.fit` takes 400 ms, 40 % of the cell. The argument `x` of `train` was computed at "
        "least 10 times, always with the same content (ndarray, 78.1 KiB)."
    )
    assert finding.change == (
        "Compute the argument `x` of `train` once, before the loop that repeats it, and pass it on."
    )


@pytest.mark.parametrize(("line", "said"), [("torch.manual_seed(7)", True), ("rng = default_rng(7)", False)])
def test_what_seeds_generators_on_the_way(line: str, said: bool) -> None:
    source = f"{SOURCE}\ndef features(table):\n    {line}\n    return table\n"
    for values in ((), (value(contents=4),)):
        change = found(*values, source=source).change
        assert change.endswith(" It also seeds the generators: seed in each iteration as before.") is said


def test_a_cache_takes_only_what_has_a_hash() -> None:
    change = found(value(contents=4)).change
    assert "or, where all arguments are numbers, strings or tuples of them, with `functools.cache`." in change


SHARDS = """import numpy as np
def load_case(path):
    with np.load(path) as archive:
        return archive["image"]

class Slices:
    def __init__(self, paths):
        self.paths = paths
    def __getitem__(self, i):
        case, z = divmod(i, 40)
        image = load_case(self.paths[case])
        return image[z]

train = loader(Slices(paths))
for epoch in range(3):
    for x in train:
        step(x)
"""
LOAD = library("numpy/lib/_npyio_impl.py", "load")
LOADS = '    with np.load(path) as archive:\n        return archive["image"]'


def shards(source: str = SHARDS, loaders: tuple[Loader, ...] = ()) -> Finding | None:
    """Of a cell of 1 s, 400 ms of it in line 11, which line 16 leads to."""
    builder = TraceBuilder().operator("aten::mm", 0, 5)
    builder.stack(0, 400_000, (CELL_FILE, "<module>", 16), (CELL_FILE, "Slices.__getitem__", 11), LOAD)
    builder.stack(400_000, 600_000, (CELL_FILE, "<module>", 17), MODEL)
    looks = {"i": 20, "case": 4, "z": 12}
    seen = [
        value(function="__getitem__", first=9, name=name, contents=contents, looks=20, made=20)
        for name, contents in looks.items()
    ]
    cell = Cell(source=source, filename=CELL_FILE)
    answer = rule("value_made_again").check(
        Results(builder.context(cell=cell, made_values=tuple(seen), loaders=loaders).build())
    )
    assert answer is None or isinstance(answer, Finding)
    return answer


def test_a_file_that_is_read_for_each_of_its_parts() -> None:
    finding = shards()
    assert finding is not None and finding.severity is Severity.HIGH
    assert "`image` depends on `case` alone. In 20 calls that were looked at, `case` had only 4 different values." in (
        finding.explanation
    )
    assert finding.change.startswith("Keep `image` for each value of `case`: in a dict")
    assert finding.saving is not None and finding.saving.share == pytest.approx(0.396)


@pytest.mark.parametrize(
    "text",
    [
        "    rows = tables[path]\n    return rows.sample(4)",
        "    size = path\n    return rng.normal(size=size)",
        "    image = np.load(path)\n    return augment(image)",
        "    history.append(path)\n    return np.load(path)",
        "    tables[path] = np.load(path)\n    return tables[path]",
        "    mode = 'w'\n    return open(path, 'w')",
        "    handle.seek(path)\n    return handle.read(9)",
    ],
)
def test_another_call_may_give_something_else(text: str) -> None:
    assert LOADS.count("\n") == text.count("\n") and shards(SHARDS.replace(LOADS, text)) is None


def test_weights_change_as_they_are_trained() -> None:
    of_array = SHARDS.replace("import numpy as np", "import numpy as np; table = np.ones(9)")
    of_tensor = SHARDS.replace("import numpy as np", "import numpy as np; table = torch.ones(9)")
    for source, told in ((of_array, True), (of_tensor, False)):
        assert (shards(source.replace("load_case(self.paths[case])", "np.dot(table, case)")) is not None) is told


def test_files_that_are_written_meanwhile() -> None:
    assert shards(SHARDS.replace("        step(x)", "        np.save(paths[0], step(x))")) is None
    assert shards(SHARDS + "for each in paths:\n    np.save(each, 1)\n") is not None


def test_what_is_kept_already() -> None:
    decorated = SHARDS.replace("def load", "@functools.cache\ndef load").replace("\n\nclass", "\nclass")
    assert shards(decorated) is None and shards(decorated.replace("@functools.cache", "")) is not None
    method = SHARDS.replace("load_case(self.paths[case])", "self.load_case(self.paths[case])")
    assert shards(method) is None
    assert (
        shards(method.replace("train = ", "    def load_case(self, path):\n        return np.load(path)\n\ntrain = "))
        is not None
    )


def test_a_part_of_each_sample_that_comes_again_in_each_pass() -> None:
    source = SHARDS.replace("self.paths[case]", "self.paths[i]")
    loader = Loader(workers=0, batch_size=8, samples=40, batches_read=20, dataset="Slices")
    finding = shards(source, (loader,))
    assert finding is not None and "about 160 samples were read of 40" in finding.explanation
    assert finding.change.startswith("Compute `image` once for each sample")
    assert finding.saving is not None and finding.saving.share == pytest.approx(0.4 * 0.75)


ITEMS = """rows = [make(n) for n in range(9)]
def train(ids):
    graphs = [build(rows[i]) for i in ids]
    return net(graphs)
for epoch in range(10):
    train(torch.randperm(9))
def build(row):
    return row.sort()
"""


def test_what_each_turn_of_a_loop_computes_for_the_same_items() -> None:
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    for part in range(10):
        at = part * 100_000 + 1
        builder.stack(at, 40_000, (CELL_FILE, "<module>", 6), (CELL_FILE, "train", 3), (CELL_FILE, "build", 8))
        builder.stack(at + 40_000, 60_000, (CELL_FILE, "<module>", 6), (CELL_FILE, "train", 4), MODEL)
    for source, told in ((ITEMS, True), (ITEMS.replace("row.sort()", "net(row)"), False)):
        trace = builder.context(cell=Cell(source=source, filename=CELL_FILE)).build()
        finding = rule("value_made_again").check(Results(trace))
        assert isinstance(finding, Finding) is told
        if isinstance(finding, Finding):
            assert (finding.severity, finding.where.lines) == (Severity.HIGH, (3,))
            assert "asks for the same items of `rows` in each of its 10 turns" in finding.explanation
            assert finding.change.startswith("Compute `build(rows[i])` once for each item of `rows` before line 5")
            assert finding.saving is not None and finding.saving.share == pytest.approx(0.36)
