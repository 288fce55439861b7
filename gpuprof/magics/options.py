"""The options of `%%gpuprofile`, with their help. A wrong one is one clear line, and the cell does not run."""

from __future__ import annotations

import keyword
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError as IPythonUsageError
from IPython.core.magic import no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from gpuprof.errors import UsageError

if TYPE_CHECKING:
    from gpuprof.capture.base.options import CaptureOptions

REPORT_SUFFIXES = (".html", ".htm")
_TRY_SECONDS = 60.0
DISPLAYS = ("auto", "report", "widget", "text", "none")


def _unquoted(text: str) -> str:
    # IPython's splitter leaves quotes on
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


_ARGUMENTS = (
    argument("--name", type=_unquoted, metavar="NAME", help="a name for this run, for %%gpuhistory and --compare"),
    argument(
        "--steps",
        type=int,
        metavar="N",
        help="record the kernels of N steps, then only sample (default 20; of very short steps, up to a second)",
    ),
    argument("--skip", type=int, metavar="N", help="count the first N steps as warm-up (default 2)"),
    argument("--max-seconds", type=float, metavar="S", help="record kernels for at most S seconds (default 60)"),
    argument("--memory", action="store_true", help="record every allocation: exact peaks, more overhead"),
    argument("--stacks", action="store_true", help="record Python call stacks: finds lines, much more overhead"),
    argument("--shapes", action="store_true", help="record the shapes of operators' inputs; keeps tensors alive"),
    argument("--nvml-hz", type=float, metavar="HZ", help="device readings a second (default 10, at most 50)"),
    argument("--no-nvml", action="store_true", help="leave device sampling out"),
    argument("--no-lines", action="store_true", help="leave out which line of the cell runs when"),
    argument(
        "--close-look",
        action="store_true",
        help="look closely at a few iterations after the recorded ones, however short the cell (default: from 2 s on)",
    ),
    argument("--no-close-look", action="store_true", help="leave that out"),
    argument(
        "--inspect",
        action="store_true",
        help="in the close look, also count the zeros of matrices on a GPU, and of small and very large ones",
    ),
    argument(
        "--compare",
        type=_unquoted,
        metavar="RUN",
        help="show this run against another one than the cell's previous run: a variable that holds it, its number, "
        "name or id, `last`, or a path",
    ),
    argument("--no-compare", action="store_true", help="do not compare with the cell's previous run"),
    argument(
        "--try",
        dest="try_changes",
        action="store_true",
        help="then measure the changes of the best findings, alone and together; %%gpufix inserts the best of them",
    ),
    argument("--try-seconds", type=float, metavar="S", help="--try takes about S seconds (default 60)"),
    argument("--report", type=_unquoted, metavar="FILE.html", help="also write the one-file HTML report"),
    argument(
        "--display",
        choices=DISPLAYS,
        default="auto",
        help="what appears under the cell. auto: the card, with buttons in a live front end (default)",
    ),
    argument(
        "--embed",
        action="store_true",
        help="also save the interactive timeline in the notebook (0.1 to 0.6 MB)",
    ),
    argument("--quiet", action="store_true", help="show nothing; `gpuprof.last()` or --into reach the run"),
    argument("--into", type=_unquoted, metavar="NAME", help="assign the run to this variable"),
)


def with_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a magic function the options of `%%gpuprofile` and their help as its docstring."""
    for decorate in reversed(_ARGUMENTS):
        function = decorate(function)
    # the text is expanded where it is parsed, for the transformer and the magic alike
    described: Callable[..., Any] = no_var_expand(magic_arguments("gpuprofile")(function))
    described.__doc__ = (described.__doc__ or "").replace("%gpuprofile", "%%gpuprofile", 1)
    return described


@with_arguments
def _arguments() -> None:
    """Hold the parser."""


@dataclass(frozen=True)
class CellOptions:
    """One magic line, understood. `capture` is what the capture is told; the rest is about showing."""

    capture: CaptureOptions
    compare: str | None = None
    no_compare: bool = False
    report: Path | None = None
    display: str = "auto"
    embed: bool = False
    quiet: bool = False
    into: str | None = None
    try_seconds: float | None = None


def parse(line: str) -> CellOptions:
    """Understand the text behind `%%gpuprofile`; UsageError, one line, where something is wrong with it."""
    try:
        given: Namespace = _arguments.parser.parse_argstring(line)  # type: ignore[attr-defined]
    except (IPythonUsageError, ValueError) as error:
        hint = "write --name 'my run' to name this run; " if _words_left(str(error)) else ""
        raise UsageError(f"{error}; {hint}%%gpuprofile? lists the options") from error
    return CellOptions(
        capture=_capture_options(given),
        compare=given.compare,
        no_compare=given.no_compare,
        report=_report(given.report),
        display=given.display,
        embed=given.embed,
        quiet=given.quiet,
        into=_variable(given.into),
        try_seconds=_seconds(given.try_seconds, try_changes=given.try_changes),
    )


def _words_left(error: str) -> bool:
    _, unknown, rest = error.partition("unrecognized arguments: ")
    return bool(unknown) and not rest.startswith("-")


def _capture_options(given: Namespace) -> CaptureOptions:
    from gpuprof.capture.base.options import CaptureOptions

    named = {name: getattr(given, name) for name in CaptureOptions.__struct_fields__ if hasattr(given, name)}
    return CaptureOptions(**{name: value for name, value in named.items() if value is not None})


def _report(text: str | None) -> Path | None:
    if text is None:
        return None
    named = Path(text).expanduser()
    if named.suffix.lower() not in REPORT_SUFFIXES:
        raise UsageError(
            f"--report {text}: expected a file name that ends in .html, so that nothing else is overwritten"
        )
    try:
        path = named.absolute()  # the cell may change the working directory
    except FileNotFoundError:
        raise UsageError(
            f"--report {text}: the working directory has been deleted; name a file by its whole path"
        ) from None
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"--report {text}: expected a file in a folder that exists; name another file")
    return path


def _seconds(given: float | None, *, try_changes: bool) -> float | None:
    if given is None:
        return _TRY_SECONDS if try_changes else None
    if not 0 < given < float("inf"):
        raise UsageError(f"--try-seconds {given:g}: expected a number of seconds above 0")
    if not try_changes:
        raise UsageError(f"--try-seconds {given:g}: it says how long --try takes; add --try")
    return given


def _variable(text: str | None) -> str | None:
    if text is not None and (not text.isidentifier() or keyword.iskeyword(text)):
        raise UsageError(f"--into {text}: expected the name of a variable")
    return text


def options_as_rows() -> list[tuple[str, str]]:
    """Every option as it is typed, and its help, for the reference page."""
    parser = _arguments.parser  # type: ignore[attr-defined]
    rows = []
    for action in parser._actions:  # argparse has no public list of them
        if action.option_strings and action.dest != "help":
            value = action.metavar or (" or ".join(action.choices) if action.choices else "")
            rows.append((f"{action.option_strings[-1]} {value}".strip(), str(action.help).replace("%%", "%")))
    return rows
