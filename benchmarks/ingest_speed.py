"""How fast a trace is read: `load_trace` (everything linked) against bare JSON parsers that make no column at all.

    python benchmarks/ingest_speed.py [TRACE.json.gz] [--copies 5]

Takes a real trace (by default the largest of `make traces`), and the same with its events repeated one after the
other to about a million. Every reading runs in a process of its own; the best of three counts. The ratios are what
matters: they were measured in one run. Writes `benchmarks/ingest_speed.md`. orjson is measured where it is installed.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEFAULT = HERE.parent / "tests" / "recordings" / "traces" / "gpu" / "v100-ddp-memory-nccl.json.gz"
RUNS = 3

READERS = {
    "gpuprof, .json": ("plain", "from gpuprof.ingest.load import load_trace; trace = load_trace(path)"),
    "gpuprof, .json.gz": ("packed", "from gpuprof.ingest.load import load_trace; trace = load_trace(path)"),
    "bare orjson.loads": ("plain", "import orjson; trace = orjson.loads(open(path, 'rb').read())"),
    "bare json.loads": ("plain", "import json; trace = json.loads(open(path, 'rb').read())"),
}
# Imports are paid before the clock starts: a notebook has paid them already.
PROBE = """
import re, sys, time
path = sys.argv[1]
{imports}
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
before = peak()
wall, cpu = time.perf_counter(), time.process_time()
{work}
print(time.perf_counter() - wall, time.process_time() - cpu)
print(peak() - before)
"""


@dataclass(frozen=True)
class Reading:
    """The best of some runs: wall and CPU seconds, and the memory it took at its highest, in KiB (Linux)."""

    wall_s: float
    cpu_s: float
    peak_kib: int


def repeat(raw: bytes, copies: int) -> bytes:
    """The trace with its events `copies` times, each shifted in time and with ids of its own."""
    begin = raw.index(b"[", raw.index(b'"traceEvents"')) + 1
    end = raw.rindex(b"]")
    events = raw[begin:end]
    times = [int(found) for found in re.findall(rb'"ts": (\d+)', events)]
    span_us = max(times) - min(times) + 10_000
    numbers = re.compile(rb'"(ts|correlation|External id|id)": (\d+)')

    def shifted(copy: int) -> bytes:
        step = {b"ts": span_us * copy}
        return numbers.sub(lambda m: b'"%s": %d' % (m[1], int(m[2]) + step.get(m[1], 10_000_000 * copy)), events)

    return raw[:begin] + b",".join(shifted(copy) for copy in range(copies)) + raw[end:]


def measure(work: str, path: Path) -> Reading | None:
    """None where the reader is not installed."""
    imports, _, rest = work.partition("; ")
    readings = []
    for _ in range(RUNS):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]),
        }
        done = subprocess.run(
            [sys.executable, "-c", PROBE.format(imports=imports, work=rest), str(path)],
            capture_output=True, text=True, check=False, env=environment,
        )  # fmt: skip
        if "ModuleNotFoundError" in done.stderr:
            return None
        if done.returncode:
            raise RuntimeError(done.stderr)
        wall, cpu, peak = done.stdout.split()
        readings.append(Reading(float(wall), float(cpu), int(peak)))
    return min(readings, key=lambda reading: reading.cpu_s)


def table(title: str, events: int, size: int, readings: dict[str, Reading | None]) -> str:
    """One Markdown table; the ratio is to gpuprof on the same plain file."""
    own = readings["gpuprof, .json"]
    assert own is not None
    lines = [f"## {title}: {events:,} events, {size / 1e6:.0f} MB", ""]
    lines += [
        "| reader | wall s | CPU s | CPU, gpuprof = 1 | peak MiB | peak bytes an event |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, reading in readings.items():
        if reading is None:
            lines.append(f"| {name} | not installed | | | | |")
            continue
        lines.append(
            f"| {name} | {reading.wall_s:.2f} | {reading.cpu_s:.2f} | {reading.cpu_s / own.cpu_s:.2f} "
            f"| {reading.peak_kib / 1024:,.0f} | {reading.peak_kib * 1024 / events:,.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--copies", type=int, default=5)
    options = parser.parse_args()
    raw = gzip.decompress(options.trace.read_bytes())
    parts = [
        "# Speed of ingest",
        "",
        f"`{options.trace.name}`, alone and repeated, {os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}. "
        f"The run with the least CPU time of {RUNS} counts, each in a process of its own; "
        "gpuprof's goes from the file to a linked Trace, the others only parse.",
        "Written by `benchmarks/ingest_speed.py`.",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for title, text in (("The trace", raw), (f"{options.copies} times the trace", repeat(raw, options.copies))):
            files = {"plain": Path(folder, "trace.json"), "packed": Path(folder, "trace.json.gz")}
            files["plain"].write_bytes(text)
            files["packed"].write_bytes(gzip.compress(text, 6))
            readings = {name: measure(work, files[kind]) for name, (kind, work) in READERS.items()}
            parts += ["", table(title, text.count(b'"ph":'), len(text), readings)]
            print(parts[-1], flush=True)
    (HERE / "ingest_speed.md").write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
