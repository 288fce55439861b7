"""First paint and frame times of the timeline with many events, in headless Chromium with software rendering.

    python benchmarks/timeline_frames.py [EVENTS]

Prints a Markdown table for the exported page and for the widget in a JupyterLab of its own. Frames are the
distances between animation frames while the wheel zooms in and out at 180 places and while the view is dragged, so
16.7 ms is the floor; `drawing` is the script's part of a frame. First paint counts, for the page, from the start of the
navigation, reading the file and decoding included; in JupyterLab from the moment at which the kernel has encoded the
data and hands it to the widget until the canvas has been painted. Every event carries what a recording with shapes and
lines has: grid, occupancy, operator, inputs, line of the cell.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from gpuprof.model.context import Cell, FollowedLines, RunContext
from gpuprof.model.schema import TABLES
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables
from gpuprof.report import Report
from gpuprof.views.html import render_page
from tests.support.jupyter import jupyterlab

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
WATCH = """
window.draw_costs = [];
const plain = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => plain((time) => {
  const before = performance.now();
  callback(time);
  if (window.watching && !callback.idle) window.draw_costs.push(performance.now() - before);
});
new MutationObserver((_, observer) => {
  if (!document.querySelector(".gp-canvas")) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => (window.first_paint = performance.now())));
}).observe(document, { childList: true, subtree: true });
"""
FRAMES = """async () => {
  const canvas = document.querySelector(".gp-canvas");
  const box = canvas.getBoundingClientRect();
  const frame = () => new Promise((resolve) => requestAnimationFrame(Object.assign((t) => resolve(t), { idle: true })));
  window.watching = true;
  const times = [];
  let last = await frame();
  const step = async (act) => {
    act();
    const now = await frame();
    times.push(now - last);
    last = now;
  };
  const at = (x) => ({ bubbles: true, cancelable: true, clientX: box.left + x, clientY: box.top + 100, pointerId: 1 });
  for (let i = 0; i < 180; i++) {
    const x = 150 + ((i * 37) % (box.width - 160));
    const deltaY = i % 30 < 15 ? -25 : 25;
    await step(() => canvas.dispatchEvent(new WheelEvent("wheel", { ...at(x), ctrlKey: true, deltaY })));
  }
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent("pointerdown", at(500)));
  for (let i = 0; i < 60; i++) await step(() => canvas.dispatchEvent(new PointerEvent("pointermove", at(500 - 5 * i))));
  canvas.dispatchEvent(new PointerEvent("pointerup", at(200)));
  return [times, window.draw_costs.filter((cost) => cost > 0.05)];
}"""  # fmt: skip
LAB_CELLS = (
    """import sys, time
sys.path[:0] = {paths}
from timeline_frames import long_run
from gpuprof.analyses.basics.result import Results
from gpuprof.views.timeline import encode
from gpuprof.views.timeline.widget import TimelineWidget
trace = long_run({events})
results = Results(trace)
raw, handed = encode.raw, []
def noted(timeline):
    made = raw(timeline)
    handed.extend([len(made[1]), time.time()])
    return made
encode.raw = noted""",
    """begun = time.time()
widget = TimelineWidget(trace, results)
print("handed over", handed[0], handed[1] - begun, handed[1])
widget""",
)


def long_run(events: int) -> Trace:
    """Steps of 5,000 kernels on four streams, each launched from inside an operator inside another one."""
    random = np.random.default_rng(0)
    kernels = events // 4
    spacing = np.tile(random.integers(8_000, 30_000, 5_000), kernels // 5_000 + 1)[:kernels]
    start = np.cumsum(spacing + random.integers(0, 400, kernels))
    duration = (spacing * 0.8 * random.normal(1, 0.02, kernels)).astype(np.int64)
    kind = np.tile(random.integers(0, 200, 5_000), kernels // 5_000 + 1)[:kernels]
    row = np.arange(kernels)
    zeros = np.zeros(kernels, np.int64)
    outer = {"start_ns": start - 6_000, "duration_ns": spacing * 9 // 10, "name": kind, "parent": zeros - 1}
    inner = {"start_ns": start - 5_500, "duration_ns": spacing * 7 // 10, "name": kind + 200, "parent": 2 * row}
    shared = {"thread": zeros, "input_dims": kind + 601}
    both = {key: np.stack([outer[key], inner[key]], axis=1).ravel() for key in outer}
    both |= {key: np.repeat(values, 2) for key, values in shared.items()}
    call = {"start_ns": start - 5_000, "duration_ns": spacing // 3, "thread": zeros, "name": zeros + 600}
    event = {"start_ns": start, "duration_ns": duration, "name": kind + 400, "device": zeros, "stream": 7 + row % 4}
    grid = {"blocks": 64 * (1 + kind % 40), "block_threads": 128 << kind % 4, "occupancy_percent": kind % 97 + 1.0}
    links = {"kind": zeros, "correlation": row, "call": row, "operator": 2 * row + 1}
    steps = np.arange(0, kernels, 5_000)
    step = {"start_ns": start[steps], "duration_ns": np.diff(np.append(start[steps], start[-1]))}
    lines = np.arange(0, kernels, 500)
    seen = {"time_ns": start[lines] - 6_000, "tid": 0 * lines + 1, "line": 2 + lines // 500 % 10}
    tables = empty_tables() | {
        "operators": Table(TABLES["operators"], both),
        "calls": Table(TABLES["calls"], call | {"kind": zeros + 1, "correlation": row, "operator": 2 * row + 1}),
        "device_events": Table(TABLES["device_events"], event | grid | links),
        "steps": Table(TABLES["steps"], step | {"number": np.arange(len(steps))}),
        "threads": Table(TABLES["threads"], {"pid": [1], "tid": [1], "name": [0]}),
        "line_events": Table(
            TABLES["line_events"],
            seen | {"cell_line": seen["line"], "source_file": 0 * lines, "begins": np.ones(len(lines), bool)},
        ),
    }
    end = int((start + duration).max())
    source = Source("long run", kind="recording", shapes=True)
    return Trace(source, _names(), tables, int(start[0] - 6_000), end, 0, None, True, context=_context(end))


def _names() -> tuple[str, ...]:
    events = [f"{what}_{i}" for what in ("aten::op", "aten::inner", "kernel") for i in range(200)]
    dims = [f"[[{8 + i}, 64, 56, 56], [{64 + i}, 64, 3, 3], [], [], [], [], []]" for i in range(200)]
    return (*events, "cudaLaunchKernel", *dims)


def _context(end_ns: int) -> RunContext:
    source = "\n".join(["%%gpuprofile", *(f"value = model.part_{i}(value)" for i in range(10))])
    return RunContext(
        cell=Cell(source=source, execution_count=1, name="long run"),
        lines=FollowedLines(how="monitoring", start_ns=0, end_ns=end_ns),
    )


def measure_page(browser: Any, trace: Trace, folder: Path) -> tuple[Any, ...]:
    """(size of the file, seconds to build it, ms to its first paint, frames, drawing)."""
    report = Report.of(trace)
    begun = time.perf_counter()
    text = render_page(report)
    seconds = time.perf_counter() - begun
    (folder / "page.html").write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.add_init_script(WATCH)
    page.goto((folder / "page.html").as_uri())
    paint = _painted(page)
    page.locator(".gp-canvas").scroll_into_view_if_needed()
    frames, drawing = page.evaluate(FRAMES)
    page.close()
    return len(text.encode()), seconds, paint, frames, drawing


def measure_lab(browser: Any, events: int, folder: Path) -> tuple[Any, ...]:
    """The same of the widget in JupyterLab; the size is that of the data on the binary comm."""
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    cells = [nbformat.v4.new_code_cell(cell.format(paths=paths, events=events)) for cell in LAB_CELLS[:1]]
    cells.append(nbformat.v4.new_code_cell(LAB_CELLS[1]))
    with jupyterlab(folder) as server:
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, server.folder / "long.ipynb")
        page = browser.new_page(viewport={"width": 1400, "height": 1200})
        page.set_default_timeout(120_000)
        page.add_init_script(WATCH)
        page.goto(server.url("lab/tree/long.ipynb"))
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.keyboard.press("Control+b")
        for index in range(2):
            cell = page.locator(".jp-CodeCell").nth(index)
            cell.locator(".cm-content").click()
            page.keyboard.press("Control+Enter")
            cell.locator(f".jp-InputPrompt:text-is('[{index + 1}]:')").wait_for()
        painted = page.evaluate("performance.timeOrigin") + _painted(page)
        _, size, seconds, handed = page.get_by_text("handed over").last.inner_text().rsplit(" ", 3)
        page.locator(".gp-canvas").scroll_into_view_if_needed()
        frames, drawing = page.evaluate(FRAMES)
        page.close()
    return int(size), float(seconds), painted - 1000 * float(handed), frames, drawing


def _painted(page: Any) -> float:
    while not (paint := page.evaluate("() => window.first_paint ?? 0")):
        time.sleep(0.05)
    return float(paint)


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    executable = os.environ.get("GPUPROF_CHROMIUM") or shutil.which("chromium")
    if not executable:
        sys.exit("chromium is missing: apt-get install chromium, or name another in GPUPROF_CHROMIUM")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(
        "| host | events | size | built in | first paint | frame p50 | p95 | worst | of it drawing, p50 "
        "| drawing, worst |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for host, measured in (
            ("exported page", lambda: measure_page(browser, long_run(events), Path(folder))),
            ("widget in JupyterLab", lambda: measure_lab(browser, events, Path(folder))),
        ):
            size, seconds, paint, frames, drawing = measured()
            p50, p95 = np.percentile(frames, [50, 95])
            print(
                f"| {host} | {events:,} | {size / 1e6:.1f} MB | {seconds:.2f} s | {paint:.0f} ms "
                f"| {p50:.1f} ms | {p95:.1f} ms | {max(frames):.1f} ms | {np.median(drawing):.1f} ms "
                f"| {max(drawing):.1f} ms |",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
