"""The tests of this repository that are marked `gpu`."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec

from benchmarks.gpu_check.check import AbsentError, Check


def run(check: Check) -> None:
    missing = [name for name in ("pytest", "pytest_timeout", "hypothesis") if find_spec(name) is None]
    if missing:
        raise AbsentError(f"{', '.join(missing)} is not installed")
    report = check.folder / "gpu-tests.xml"
    command = [sys.executable, "-m", "pytest", "-m", "gpu", "tests/gpu", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, f"--junitxml={report}"], capture_output=True, text=True, check=False)
    cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    outcomes = {f"{case.get('classname')}.{case.get('name')}": _outcome(case) for case in cases}
    check.note(outcomes=outcomes, tail=done.stdout[-3000:], exit_code=done.returncode)
    check.expect("tests were found", bool(cases))
    check.expect("none fails", not [name for name, outcome in outcomes.items() if outcome == "failed"])
    check.only_on_device("none is skipped", not [name for name, outcome in outcomes.items() if outcome == "skipped"])


def _outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"
