"""What gpuprof says of each variant of a pair, each profiled in a fresh process as a cell of a notebook.

python -m benchmarks.proving.record NAME [--size mini] [--variant bad] [--device cpu] -o FOLDER
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.proving.fresh import in_fresh_process, write_json
from benchmarks.proving.pair import SMALLEST, Pair, named_pairs
from benchmarks.proving.play import LINES_ABOVE, play

TIMEOUT_S = 180.0
FOLDER_VARIABLE = "GPUPROF_FOLDER"
# what an abstaining rule may ask for that changes how the cell is profiled
_OPTION = re.compile(r"--(?:shapes|memory|stacks)\b")


def record_pair(
    pair: Pair, size: str, device: str, runs: Path, *, variants: Sequence[str] = (), timeout_s: float = TIMEOUT_S
) -> dict[str, Any]:
    """Record every variant (or these); run folders go below `runs`.

    Where a rule of the pair abstains on `bad` and names an option, all variants are recorded with it, as a user would
    who reads that. Returns a variant's name → what `record_variant` gives.
    """
    named = list(variants or pair.variants)
    bad = record_variant(pair, "bad", size, device, runs, timeout_s=timeout_s)
    arguments = asked_for(bad, pair.rules)
    if arguments:
        bad = record_variant(pair, "bad", size, device, runs, arguments, timeout_s=timeout_s)
    rest = (name for name in named if name != "bad")
    recorded = {name: record_variant(pair, name, size, device, runs, arguments, timeout_s=timeout_s) for name in rest}
    return {"bad": bad, **recorded} if "bad" in named else recorded


def asked_for(recorded: dict[str, Any], rules: Sequence[str]) -> str:
    """The options that these rules, abstaining, ask for; empty where one of them found something."""
    report = recorded.get("report")
    if report is None or any(finding["rule"] in rules for finding in report["findings"]):
        return ""
    asked = [_OPTION.findall(entry["how"]) for entry in report["abstained"] if entry["rule"] in rules]
    return " ".join(dict.fromkeys(option for options in asked for option in options))


def record_variant(
    pair: Pair,
    variant: str,
    size: str,
    device: str,
    runs: Path,
    arguments: str = "",
    *,
    timeout_s: float = TIMEOUT_S,
) -> dict[str, Any]:
    """Profile one variant in a fresh process.

    `report` is the object of `gpuprof findings --json`; its lines count the magic's own, `lines_above`. `environment`
    is the machine. Or `error` says why there is none.
    """
    chosen = [pair.name, "--size", size, "--variant", variant, f"--arguments={arguments}", "--here"]
    folder = runs / f"{pair.name}.{size}.{variant}"
    return in_fresh_process(
        "benchmarks.proving.record",
        chosen,
        device=device,
        timeout_s=timeout_s,
        environment={FOLDER_VARIABLE: str(folder.absolute())},
    )


def record_here(pair: Pair, variant: str, size: str, device: str, arguments: str = "") -> dict[str, Any]:
    """Profile one variant in this process."""
    import msgspec

    played = play(pair, variant, size, device, arguments=arguments)
    assert played.run is not None
    environment = played.run.trace.context.environment
    return {
        "arguments": arguments,
        "lines_above": LINES_ABOVE,
        "cell_seconds": played.seconds,
        "losses": list(played.losses),
        "environment": msgspec.to_builtins(environment) if environment else None,
        "run": None if played.run.folder is None else str(played.run.folder),
        "report": played.run.to_dict(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="what gpuprof says of the variants of a pair")
    parser.add_argument("name")
    parser.add_argument("--size", default=SMALLEST)
    parser.add_argument("--variant", default=None)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--arguments", default="", help="of %%%%gpuprofile")
    parser.add_argument("--here", action="store_true", help="in this process; -o then names the file to write")
    parser.add_argument("-o", "--output", type=Path, default=None)
    chosen = parser.parse_args()
    (pair,) = named_pairs((chosen.name,))
    if chosen.here:
        write_json(
            chosen.output,
            record_here(pair, chosen.variant or "bad", chosen.size, chosen.device, chosen.arguments),
        )
        return
    folder = chosen.output or Path(tempfile.mkdtemp(prefix="gpuprof-proving-"))
    variants = () if chosen.variant is None else (chosen.variant,)
    recorded = record_pair(pair, chosen.size, chosen.device, folder / "runs", variants=variants)
    for name, found in recorded.items():
        write_json(folder / f"{pair.name}.{chosen.size}.{name}.json", found)
        print(f"{name}: {_said(found)}")
    print(f"written to {folder}")


def _said(found: dict[str, Any]) -> str:
    if "error" in found:
        return str(found["error"])
    said = [f"{each['rule']} ({each['severity']})" for each in found["report"]["findings"]]
    return f"{found['cell_seconds']:.2f} s; {', '.join(said) or 'nothing'}"


if __name__ == "__main__":
    main()
