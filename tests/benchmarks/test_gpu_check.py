"""The GPU check on a machine without one: what it records, how it goes on, what it survives."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from benchmarks.gpu_check.__main__ import main
from benchmarks.gpu_check.item import Item
from benchmarks.gpu_check.plan import make_plan
from benchmarks.gpu_check.runner import MOST_ATTEMPTS, run_plan
from benchmarks.gpu_check.store import FINAL, RESULTS, Store

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / "benchmarks" / "gpu_check" / "checks"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "out")


def run(store, *items, budget_s=200.0, again=()):
    store.forget(again)
    return run_plan(store, items, device="cpu", size="small", budget_s=budget_s, environment={"PYTHONPATH": str(ROOT)})


@pytest.mark.timeout(600)
def test_a_rehearsal_runs_without_a_gpu_and_goes_on_where_it_stopped(tmp_path, capsys):
    # GIVEN a first command that only does the first of two checks
    folder = tmp_path / "out"
    common = ["--device", "cpu", "--output", str(folder), "--budget-s", "300"]
    main([*common, "--only", "pipeline"])
    # WHEN the same folder is given again
    main([*common, "--only", "pipeline", "--only", "sync_lines"])
    # THEN the finished one did not run again, and both are there with their files
    known = json.loads((folder / RESULTS).read_text())["checks"]
    assert {name: result["attempts"] for name, result in known.items()} == {"pipeline": 1, "sync_lines": 1}
    assert {result["status"] for result in known.values()} == {"held"}
    assert known["pipeline"]["expectations"]["the text report is there"]
    assert known["pipeline"]["expectations"]["nothing imported the notebook's libraries in the end"]
    if sys.version_info >= (3, 12):  # earlier, five rounds are over before anybody has looked at the stack
        assert known["sync_lines"]["facts"]["placed_right_share"] == 1.0
    with tarfile.open(folder / known["sync_lines"]["files"]["archive"]) as packed:
        assert "sync_lines/sync_lines/kineto.json.gz" in packed.getnames()
    assert len(list(folder.iterdir())) <= 8
    assert "all done" in capsys.readouterr().out


def test_a_crash_costs_one_check(store):
    whole = run(store, Item("no_such_check"), Item("pair", ("record", "no_such_pair", "mini")))
    assert whole
    assert store.results["no_such_check"]["status"] == "crashed"
    assert "ModuleNotFoundError" in store.results["no_such_check"]["traceback"]
    assert store.results["pair:record:no_such_pair:mini"]["status"] == "absent"


def test_a_check_that_takes_too_long_is_ended(store):
    run(store, Item("capture", limit_s=0.2))
    assert store.results["capture"]["status"] == "timed out"


def test_what_the_budget_cut_short_is_not_done(store):
    assert not run(store, Item("capture", least_s=0.1, limit_s=60), budget_s=5.3)
    assert store.results["capture"]["status"] == "cut short"
    assert not store.done("capture")


def test_nothing_is_begun_without_time_for_it(store):
    assert not run(store, Item("capture", least_s=10), budget_s=6)
    assert store.results == {}


def test_a_check_that_was_killed_is_tried_again_and_then_left(store):
    store.put("no_such_check", {"status": "begun", "attempts": MOST_ATTEMPTS - 1})
    run(store, Item("no_such_check"))
    assert store.results["no_such_check"]["attempts"] == MOST_ATTEMPTS
    store.put("no_such_check", {"status": "begun", "attempts": MOST_ATTEMPTS})
    run(store, Item("no_such_check"))
    assert store.results["no_such_check"]["status"] == "timed out"


def test_results_of_another_device_are_not_mixed(tmp_path):
    store = Store(tmp_path)
    store.describe(device_kind="cuda")
    store.put("machine", {"status": "held"})
    with pytest.raises(SystemExit, match="holds results of --device cuda"):
        main(["--device", "cpu", "--output", str(tmp_path)])


@pytest.mark.parametrize("size", ["small", "full"])
def test_the_plan_names_checks_that_are_there(size):
    plan = make_plan(size)
    assert len({item.name for item in plan}) == len(plan)
    for item in plan:
        tree = ast.parse((CHECKS / f"{item.module}.py").read_text())
        assert "run" in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert item.least_s <= item.limit_s


def test_every_check_is_in_the_plan():
    planned = {item.module for item in make_plan("full")}
    assert planned == {path.stem for path in CHECKS.glob("*.py")} - {"__init__"}


def test_a_pair_of_each_group_comes_before_the_second_size_of_any():
    pairs = [item.arguments for item in make_plan("full") if item.module == "pair"]
    first_other = next(at for at, (_, _, size) in enumerate(pairs) if size != "balanced")
    assert {name for _, name, _ in pairs[:first_other]} == {name for _, name, size in pairs if size == "balanced"}


def test_the_command_needs_only_the_standard_library():
    code = (
        "import sys, benchmarks.gpu_check.__main__ as command\n"
        "command.make_plan('full')\n"
        "tops = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(tops & {'torch', 'numpy', 'msgspec', 'gpuprof', 'psutil', 'IPython'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_final_state_is_one_that_checks_give():
    assert {"held", "did not hold", "needs a CUDA device"} < FINAL
