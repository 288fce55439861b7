"""Asks the other tools about every recorded pair; one JSON file a pair and size, beside the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.proving.collect import results_in
from benchmarks.proving.fresh import in_fresh_process, write_json
from benchmarks.proving.others import pypi_gpuprof, tensorboard_plugin
from benchmarks.proving.pair import SMALLEST, Pair

TIMEOUT_S = 60.0
_ABSENT = {"error": "it was not installed"}
TOOLS = {
    "torchtidy": "TorchTidy (in torch)",
    "tensorboard_plugin": "TensorBoard plugin (0.4.3)",
    "pypi_gpuprof": "gpuprof of PyPI (0.7.1)",
}


def ask_all(
    folder: Path,
    asked: Iterable[Pair],
    *,
    site: Path | None,
    plugin: Path | None,
    again: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """For every result below `folder` of the pairs `asked` about, ask each tool about its variants.

    `site`, `plugin`: where PyPI's gpuprof and the TensorBoard plugin were installed to, if they were.
    """
    pairs = {pair.name: pair for pair in asked}
    for result in results_in(folder):
        path = folder / "others" / f"{result['pair']}.{result['size']}.{result['device']}.json"
        if (path.exists() and not again) or result["pair"] not in pairs:
            continue
        say(f"{result['pair']}, {result['size']}, {result['device']}: other tools")
        answers = {
            variant: _asked(pairs[result["pair"]], variant, result, recorded, site, plugin)
            for variant, recorded in result["variants"].items()
            if "report" in recorded
        }
        write_json(path, {"pair": result["pair"], "size": result["size"], "device": result["device"], "said": answers})


def answers_in(folder: Path) -> Iterable[dict[str, Any]]:
    """What `ask_all` has written."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder / "others").glob("*.json"))]


def _asked(
    pair: Pair,
    variant: str,
    result: dict[str, Any],
    recorded: dict[str, Any],
    site: Path | None,
    plugin: Path | None,
) -> dict[str, Any]:
    size, device = result["size"], result["device"]
    # its patterns count events, not time, and on longer cells it takes minutes
    chosen = [pair.name, "--variant", variant, "--size", SMALLEST if device == "cpu" else size]
    return {
        "torchtidy": in_fresh_process(
            "benchmarks.proving.others.torchtidy", chosen, device=device, timeout_s=TIMEOUT_S
        ),
        "tensorboard_plugin": _ABSENT if plugin is None else _plugin(recorded, plugin),
        "pypi_gpuprof": _ABSENT if site is None else pypi_gpuprof.advise(pair, variant, size, device, site),
    }


def _plugin(recorded: dict[str, Any], plugin: Path) -> dict[str, Any]:
    from gpuprof.model.recording import KINETO

    trace = Path(recorded.get("run") or "") / KINETO
    return tensorboard_plugin.advise(trace, plugin) if trace.is_file() else {"error": "the recording is not there"}
