"""The device's constants as measured, beside those that predictions take where a run does not show its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Table = Callable[[Sequence[str], Iterable[Sequence[Any]]], str]


def section(results: dict[str, dict[str, Any]], table: Table) -> str:
    """The tables of launches, copies and products; empty where none was measured."""
    launch, copy, compute = (
        results.get(f"{name}_constants", {}).get("facts", {}) for name in ("launch", "copy", "compute")
    )
    parts = []
    if launch:
        parts.append(table(("constant", "taken", "measured"), _launches(launch, compute)))
    if copies := list(_copies(copy)):
        parts.append(table(("bytes", "way", "rate", "blocking", "the call alone"), copies))
    if products := list(_products(compute)):
        parts.append(table(("precision", "n", "TFLOP/s"), products))
    return "## Constants of the device\n\n" + "\n".join(parts) if parts else ""


def _launches(launch: dict[str, Any], compute: dict[str, Any]) -> Iterable[tuple[str, str | None, str | None]]:
    used, gaps = launch.get("used", {}), launch.get("gaps_ns", {})
    lag = (gaps.get("idle_lag") or {}).get("q1")
    yield "launch → kernel begin, device idle", _us(used.get("launch_lag_ns")), _us(lag)
    yield "queued kernel → kernel", _us(used.get("stream_gap_ns")), _us(_median(gaps.get("queued")))
    yield "kernel → kernel in a graph", _us(used.get("graph_kernel_gap_ns")), _us(_median(gaps.get("graph")))
    yield "graph launch, host", _us(used.get("graph_launch_ns")), _us(_median(launch.get("graph_call_ns")))
    yield "launch, host, with its operator", None, _us(_median(launch.get("launch_call_ns")))
    queue = launch.get("queue", {})
    yield "launch queue, launches", str(used.get("queue_length")), _text(queue.get("launches_before_the_longest"))
    used_hand_over = compute.get("used", {}).get("hand_over_ns")
    yield "worker's batch, hand-over", _us(used_hand_over), _us(_median(compute.get("hand_over_ns")))
    for size, found in launch.get("allocations", {}).items():
        yield f"cudaMalloc of {int(size) >> 20} MiB", None, _us(_median(found["allocate_ns"]))
        yield f"cudaFree of {int(size) >> 20} MiB", None, _us(_median(found["free_ns"]))


def _copies(copy: dict[str, Any]) -> Iterable[tuple[Any, ...]]:
    for size, ways in copy.items():
        if not size.isdigit():
            continue
        for way, found in ways.items():
            rate = None if found["gb_per_s"] is None else f"{found['gb_per_s']:.1f} GB/s"
            yield f"{int(size):,}", way, rate, _us(_median(found["blocking_ns"])), _us(_median(found["call_ns"]))


def _products(compute: dict[str, Any]) -> Iterable[tuple[Any, ...]]:
    for precision, sizes in compute.items():
        if isinstance(sizes, dict) and all(str(size).isdigit() for size in sizes):
            for size, found in sizes.items():
                yield precision, size, f"{found['tflop_per_s']:.3g}"


def _median(spread: dict[str, float] | None) -> float | None:
    return (spread or {}).get("median")


def _us(ns: float | None) -> str | None:
    return None if ns is None else f"{ns / 1000:.1f} µs"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
