"""The command line: `gpuprof report | findings | compare | doctor | rules | explain`.

Exit status: 0 done (for `findings`: none), 1 findings (for `doctor`: something does not work), 2 could not read, wrong
usage or a failure of gpuprof; then one line on stderr says why. 3 (only `findings`): the recording cannot be judged.
With GPUPROF_DEBUG set, a failure shows its traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from gpuprof._version import __version__
from gpuprof.errors import GpuprofError

DONE, FOUND, FAILED, UNJUDGED = 0, 1, 2, 3
DEBUG_VARIABLE = "GPUPROF_DEBUG"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except Exception as error:  # noqa: BLE001 - the outermost boundary: whatever fails is one line and status 2
        with contextlib.suppress(OSError):  # nor can stderr be written
            if os.environ.get(DEBUG_VARIABLE):
                traceback.print_exception(error)
            print(f"gpuprof: {_reason(error)}", file=sys.stderr)  # noqa: T201
        return FAILED


def _reason(error: Exception) -> str:
    if isinstance(error, GpuprofError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'the output'}: {error.strerror or error}"
    what = " ".join(str(error).split())
    if isinstance(error, RecursionError):
        what += " (is the file nested thousands deep?)"
    return f"{type(error).__name__}: {what}; {DEBUG_VARIABLE}=1 shows where"


def parser() -> argparse.ArgumentParser:
    """The command line; the reference page is generated from it."""
    top = argparse.ArgumentParser(prog="gpuprof", description="Profiles PyTorch notebooks; reads Kineto traces.")
    top.add_argument("--version", action="version", version=f"gpuprof {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    report = commands.add_parser("report", help="write the HTML report of a trace or a recorded run")
    report.add_argument("path", type=Path, metavar="PATH", help="trace file, run folder or folder of ranks")
    report.add_argument("-o", "--output", type=_page, required=True, metavar="FILE.html")
    report.add_argument("--redact", action="store_true", help="leave out source code, paths, user and host names")
    report.set_defaults(command=_report)

    findings = commands.add_parser(
        "findings", help="print what was found; exit status 1 if anything was, 3 if it cannot be judged"
    )
    findings.add_argument("path", type=Path, metavar="PATH", help="trace file, run folder or folder of ranks")
    findings.add_argument("--json", action="store_true", help="one JSON object on stdout and nothing else there")
    findings.add_argument("--schema", action=_Schema, help="print the JSON Schema of that object and exit")
    findings.set_defaults(command=_findings)

    compare = commands.add_parser("compare", help="compare an earlier run with a later one")
    compare.add_argument("before", type=Path, metavar="BEFORE")
    compare.add_argument("after", type=Path, metavar="AFTER")
    compare.add_argument("--json", action="store_true")
    compare.set_defaults(command=_compare)

    doctor = commands.add_parser("doctor", help="check torch, CUDA, CUPTI, NVML and the front end")
    doctor.add_argument("--json", action="store_true")
    doctor.set_defaults(command=_doctor)

    rules = commands.add_parser("rules", help="list the rules")
    rules.add_argument("--json", action="store_true")
    rules.set_defaults(command=_rules)

    explain = commands.add_parser("explain", help="print a rule's page")
    explain.add_argument("rule", metavar="RULE")
    explain.set_defaults(command=_explain)
    return top


class _Schema(argparse.Action):
    """Prints the schema and ends, whatever else is asked for, as `--version` does."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None):
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from gpuprof.report.contract import json_schema

        _say(json_schema())
        parser.exit()


def _page(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in (".html", ".htm"):
        raise argparse.ArgumentTypeError(
            f"{text}: expected a name that ends in .html, so that nothing else is overwritten"
        )
    return path


def _report(options: argparse.Namespace) -> int:
    from gpuprof.run import Run

    written = Run.load(options.path).write_html(options.output, redact=options.redact)
    print(f"wrote {written}", file=sys.stderr)  # noqa: T201
    return DONE


def _findings(options: argparse.Namespace) -> int:
    from gpuprof.run import Run

    run = Run.load(options.path)
    _say(json.dumps(run.to_dict(), allow_nan=False) if options.json else run.text())
    if run.report_data.gate.cannot_judge:
        return UNJUDGED
    return FOUND if run.findings else DONE


def _compare(options: argparse.Namespace) -> int:
    from gpuprof.run import Run
    from gpuprof.views.text import render_comparison

    comparison = Run.load(options.after).compare(options.before)
    _say(json.dumps(comparison.to_dict(), allow_nan=False) if options.json else render_comparison(comparison))
    return DONE


def _doctor(options: argparse.Namespace) -> int:
    from gpuprof.doctor import examine, render

    checks = examine()
    _say(json.dumps({"schema": 1, "checks": [check.to_dict() for check in checks]}) if options.json else render(checks))
    return FOUND if any(check.state == "broken" for check in checks) else DONE


def _rules(options: argparse.Namespace) -> int:
    from gpuprof.rules.documentation import describe_rules, rules_as_dicts

    _say(json.dumps({"schema": 1, "rules": rules_as_dicts()}) if options.json else describe_rules())
    return DONE


def _explain(options: argparse.Namespace) -> int:
    from gpuprof.rules.documentation import explain

    _say(explain(options.rule))
    return DONE


def _say(text: str) -> None:
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except OSError as error:
        sys.stdout = None  # the interpreter would flush it once more at its end, and fail once more
        # a reader (head, less) that has gone wants no more; the status still tells
        if not isinstance(error, BrokenPipeError):
            raise


if __name__ == "__main__":
    sys.exit(main())
