"""What a line monitor would have noted in a run that was recorded with Python stacks, and the truth beside it.

Kineto's file gives each Python call with its caller, but not the line that calls. Here a *line* is a call site: one of
a function's callees, which holds until the function calls another one. The log is made as `capture.LineMonitor` makes
it, from when calls begin and end. The truth goes by the ids of the profiler: device work → operator (External id) → the
Python call around it → its callers (Python parent id) up to one of the notebook's files.
"""

from __future__ import annotations

import gzip
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpuprof.capture.lines.line_log import ENTERED, LEFT, LineLog, ThreadLog

Event = dict[str, Any]
Site = tuple[str, int]
_FUNCTION = re.compile(r"(.+)\((\d+)\): .*")
_DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")


class RecordedStacks:
    """The Python calls of a trace file. `own`: how the names of the notebook's files begin, the cell's own first."""

    def __init__(self, path: Path, own: tuple[str, ...]) -> None:
        with gzip.open(path) as file:
            document = json.load(file)
        self.own = own
        self._base_ns = int(document["baseTimeNanoseconds"])
        self._events: list[Event] = [event for event in document["traceEvents"] if event.get("ph") == "X"]
        calls = [event for event in self._events if event["cat"] == "python_function"]
        self._by_id = {call["args"]["Python id"]: call for call in calls}
        self._threads: dict[int, list[Event]] = defaultdict(list)
        self._callees: dict[int, list[Event]] = defaultdict(list)
        for call in sorted(calls, key=lambda call: (call["ts"], -call["dur"])):
            self._threads[call["tid"]].append(call)
            self._callees[call["args"]["Python parent id"]].append(call)
        self._lines: dict[str, list[tuple[str, str]]] = defaultdict(list)

    def line_log(self) -> LineLog:
        """What was entered, which lines ran and what was left, on each thread."""
        log = LineLog(self.own[0])
        places: dict[str, int] = {}
        for tid, calls in self._threads.items():
            thread = log._threads[tid] = ThreadLog()
            thread.tid = tid
            for at_us, call, key in self._noted(calls):
                if call["name"] not in places:
                    places[call["name"]] = log.new_place(str(self._file(call)))
                thread.times.append(self._base_ns + round(at_us * 1000))
                thread.keys.append(places[call["name"]] + key)
        return log

    def device_ns(self) -> Counter[Site]:
        """The durations of the device work that each line launched, added up.

        What a thread without the notebook's code launches, autograd's, is the call of `backward`'s.
        """
        operators = {event["args"]["External id"]: event for event in self._events if event["cat"] == "cpu_op"}
        launches = {event["args"].get("correlation"): event for event in self._events if event["cat"] == "cuda_runtime"}
        backward = self._backward()
        spent: Counter[Site] = Counter()
        for event in self._events:
            if event["cat"] in _DEVICE_WORK:
                args = event["args"]
                origin = operators.get(args.get("External id")) or launches.get(args["correlation"])
                if origin is not None and (site := self._site_at(origin) or backward) is not None:
                    spent[site] += round(event["dur"] * 1000)
        return spent

    def _noted(self, calls: list[Event]) -> Iterator[tuple[float, Event, int]]:
        inside: list[Event] = []
        for call in [*calls, {"ts": float("inf")}]:
            while inside and inside[-1]["ts"] + inside[-1]["dur"] <= call["ts"]:
                left = inside.pop()
                if self._file(left):
                    yield left["ts"] + left["dur"], left, LEFT
            if inside and self._file(inside[-1]):
                yield call["ts"], inside[-1], self._site(inside[-1], call)[1]
            if "name" in call:
                if self._file(call):
                    yield call["ts"], call, ENTERED
                    yield call["ts"], call, self._site(call, None)[1]
                inside.append(call)

    def _file(self, call: Event) -> str | None:
        found = _FUNCTION.fullmatch(call["name"])
        return found[1] if found and found[1].startswith(self.own) else None

    def _site(self, call: Event, callee: Event | None) -> Site:
        """The line on which `call` calls `callee` (None: its first line)."""
        lines = self._lines[str(self._file(call))]
        key = (call["name"], re.sub(r" at 0x\w+", "", callee["name"]) if callee else "")
        if key not in lines:
            lines.append(key)
        return str(self._file(call)), lines.index(key) + 1

    def _site_at(self, origin: Event) -> Site | None:
        """The line in which an operator or a launch ran."""
        calls = self._threads.get(origin["tid"], [])
        before = bisect_right(calls, origin["ts"], key=lambda call: call["ts"])
        call = calls[before - 1] if before else None
        while call and call["ts"] + call["dur"] <= origin["ts"]:
            call = self._caller(call)
        callee = None
        while call and not self._file(call):
            call, callee = self._caller(call), call
        if call is None:
            return None
        earlier = [each for each in self._callees[call["args"]["Python id"]] if each["ts"] <= origin["ts"]]
        return self._site(call, callee or (earlier[-1] if earlier else None))

    def _caller(self, call: Event) -> Event | None:
        caller = self._by_id.get(call["args"]["Python parent id"])
        return caller if caller and caller["tid"] == call["tid"] else None

    def _backward(self) -> Site | None:
        sites = set()
        for call in self._by_id.values():
            caller = self._caller(call)
            if re.search(r"_tensor\.py\(\d+\): backward$", call["name"]) and caller and self._file(caller):
                sites.add(self._site(caller, call))
        return sites.pop() if len(sites) == 1 else None
