"""First paint and frame times of the timeline with many events, in headless Chromium with software rendering.

    python benchmarks/timeline_frames.py [EVENTS]

Prints a Markdown table for the exported page and for the widget's module (full data as raw arrays). Frames are the
distances between animation frames while the wheel zooms in and out at 180 places and while the view is dragged, so
16.7 ms is the floor; `drawing` is the script's part of a frame. First paint counts from the start of the navigation,
decoding included.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from gpuprof.model.schema import TABLES
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables
from gpuprof.report import Report
from gpuprof.views.html import render_page
from gpuprof.views.timeline import bundle, encode
from gpuprof.views.timeline.build import build

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
WIDGET = """<!doctype html><meta charset="utf-8"><style>%s</style><div id="host"></div><script type="module">
%s
const data = openPayload(%s, await (await fetch("data:application/octet-stream;base64,%s")).arrayBuffer());
mount(document.getElementById("host"), data);
</script>"""


def long_run(events: int) -> Trace:
    """Steps of 5,000 kernels on four streams, each launched from inside an operator inside another one."""
    random = np.random.default_rng(0)
    kernels = events // 4
    spacing = np.tile(random.integers(8_000, 30_000, 5_000), kernels // 5_000 + 1)[:kernels]
    start = np.cumsum(spacing + random.integers(0, 400, kernels))
    duration = (spacing * 0.8 * random.normal(1, 0.02, kernels)).astype(np.int64)
    kind = np.tile(random.integers(0, 200, 5_000), kernels // 5_000 + 1)[:kernels]
    names = [f"{what}_{i}" for what in ("aten::op", "aten::inner", "kernel") for i in range(200)] + ["cudaLaunchKernel"]
    row = np.arange(kernels)
    zeros = np.zeros(kernels, np.int64)
    outer = {"start_ns": start - 6_000, "duration_ns": spacing * 9 // 10, "thread": zeros, "name": kind}
    inner = {"start_ns": start - 5_500, "duration_ns": spacing * 7 // 10, "thread": zeros, "name": kind + 200}
    both = {key: np.stack([outer[key], inner[key]], axis=1).ravel() for key in outer}
    call = {"start_ns": start - 5_000, "duration_ns": spacing // 3, "thread": zeros, "name": zeros + 600}
    event = {"start_ns": start, "duration_ns": duration, "name": kind + 400, "device": zeros, "stream": 7 + row % 4}
    steps = np.arange(0, kernels, 5_000)
    tables = empty_tables() | {
        "operators": Table(TABLES["operators"], both),
        "calls": Table(TABLES["calls"], call | {"kind": zeros + 1, "correlation": row}),
        "device_events": Table(TABLES["device_events"], event | {"kind": zeros, "correlation": row, "call": row}),
        "steps": Table(
            TABLES["steps"],
            {
                "start_ns": start[steps],
                "duration_ns": np.diff(np.append(start[steps], start[-1])),
                "number": np.arange(len(steps)),
            },
        ),
        "threads": Table(TABLES["threads"], {"pid": [1], "tid": [1], "name": [0]}),
    }
    end = int((start + duration).max())
    return Trace(Source("long run"), tuple(names), tables, int(start[0] - 6_000), end, 0, None, True)


def measure(browser: Any, page_file: Path) -> tuple[float, list[float], list[float]]:
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.add_init_script(WATCH)
    page.goto(page_file.as_uri())
    while not (paint := page.evaluate("() => window.first_paint ?? 0")):
        time.sleep(0.05)
    page.locator(".gp-canvas").scroll_into_view_if_needed()
    frames, drawing = page.evaluate(FRAMES)
    page.close()
    return paint, frames, drawing


def hosts(trace: Trace) -> list[tuple[str, str, float]]:
    """(host, page, seconds to build it in Python)."""
    begun = time.perf_counter()
    report = Report.of(trace)
    analysed = time.perf_counter()
    page = render_page(report)
    rendered = time.perf_counter()
    payload, buffer = encode.raw(build(trace, report.results))
    made = time.perf_counter()
    text = json.dumps(payload).replace("<", "\\u003c")
    widget = WIDGET % (bundle.style(), bundle.script(), text, base64.b64encode(buffer).decode())
    print(f"analysed in {analysed - begun:.2f} s", file=sys.stderr)
    return [("exported page", page, rendered - analysed), ("widget's module, raw arrays", widget, made - rendered)]


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    executable = os.environ.get("GPUPROF_CHROMIUM") or shutil.which("chromium")
    if not executable:
        sys.exit("chromium is missing: apt-get install chromium, or name another in GPUPROF_CHROMIUM")
    print("| host | events | file | built in | first paint | frame p50 | p95 | worst | of it drawing, p50 |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for host, text, seconds in hosts(long_run(events)):
            page_file = Path(folder) / "page.html"
            page_file.write_text(text, encoding="utf-8")
            paint, frames, drawing = measure(browser, page_file)
            p50, p95 = np.percentile(frames, [50, 95])
            size = len(text.encode()) / 1e6
            print(
                f"| {host} | {events:,} | {size:.1f} MB | {seconds:.2f} s | {paint:.0f} ms "
                f"| {p50:.1f} ms | {p95:.1f} ms | {max(frames):.1f} ms | {np.median(drawing):.1f} ms |"
            )
        browser.close()


if __name__ == "__main__":
    main()
