"""Everything that watches a cell while it runs: the kernel recording, the samplers, the optimizers, the loaders."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import psutil

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.base.signal import WatchedCell
from gpuprof.capture.lines.lines import LineWatch
from gpuprof.capture.loading.loaders import LoaderWatch
from gpuprof.capture.look.look_watch import LookWatch
from gpuprof.capture.look.places import LinePath, Places
from gpuprof.capture.modules.module_watch import ModuleWatch
from gpuprof.capture.nvml.device_sampler import DeviceSampler
from gpuprof.capture.nvml.devices import cuda_in_use
from gpuprof.capture.process.descriptors import DescriptorReserve
from gpuprof.capture.process.environment import host_start, read_environment, read_flags
from gpuprof.capture.process.heap import HeapReader, heap_bytes, heap_counts
from gpuprof.capture.process.host_sampler import HostSampler
from gpuprof.capture.profiler import cupti
from gpuprof.capture.profiler.clock import ClockMarks
from gpuprof.capture.profiler.operator_cost import operator_cost_ns
from gpuprof.capture.profiler.optimizers import OptimizerWatch
from gpuprof.capture.profiler.other_profilers import OtherProfilers
from gpuprof.capture.profiler.other_threads import OtherThreads
from gpuprof.capture.profiler.trace_file import SavedTrace, Saver, save_trace, save_unpacked
from gpuprof.capture.session.captured import Captured, Live
from gpuprof.capture.session.even_lines import EvenLines
from gpuprof.capture.session.even_work import EvenWork
from gpuprof.capture.session.limits import EventLimit, RecordingGaps, UnusedHeap
from gpuprof.capture.session.main_line import MainLine
from gpuprof.capture.session.recording_writer import RunFolder
from gpuprof.capture.session.signals import Signals
from gpuprof.capture.session.steps import StepCount
from gpuprof.capture.session.steps_ahead import StepsAhead
from gpuprof.capture.session.window import RecordingWindow
from gpuprof.capture.stacks.stacks import StackWatch, learned_lines
from gpuprof.model.context import Cell, Cost, Environment, RunContext, Window
from gpuprof.model.readings import ReadingLog
from gpuprof.model.run_store import runs_folder

# of the heap, at ends of steps
_EARLY_LOOKS = 4


class Watch:
    """From `start` to `finish`. The order matters: what costs most begins before the recording and ends after it."""

    def __init__(self, options: CaptureOptions, cell: Cell | None, namespace: Mapping[str, Any] | None = None):
        filename = None if cell is None else cell.filename
        self._options = options
        self._signals = Signals(WatchedCell(namespace, None if cell is None else cell.source))
        self._descriptors = DescriptorReserve()
        self._steps = StepCount()
        self._clock = ClockMarks()
        self._lines = LineWatch(filename, namespace, wanted=not options.no_lines)
        self._stacks = StackWatch(filename, namespace, wanted=not options.no_lines)
        self._modules = ModuleWatch()
        self._window = RecordingWindow(
            options,
            self._steps,
            self._recording_began,
            self._recording_ends,
            place=lambda: self._loaders.place(),
            events=lambda: self._limit.events_of_steps(self._steps.seen),
            occupied=lambda: self._look.installed,
        )
        self._other_profilers = OtherProfilers(self._window.give_way)
        self._look = LookWatch(
            options,
            filename,
            namespace,
            steps=lambda: self._steps.seen,
            step_ns=self._steps.recent_ns,
            recorded=lambda: self._window.over_in_the_cell,
            pausing=lambda: self._steps.pausing,
            leave_out=self._steps.leave_out,
        )
        self._optimizers = OptimizerWatch(filename, self._optimizer_stepped, self._look.step_begins)
        self._loaders = LoaderWatch(filename, self._batch_asked)
        self._limit, self._unused, self._gaps = EventLimit(options), UnusedHeap(), RecordingGaps()
        self._even_work, self._even_lines = EvenWork(), EvenLines()
        self._main_line, self._places = MainLine(filename), Places(filename)
        self._loops: dict[int, LinePath] = {}
        self._held_bytes, self._goes_round = 0, False
        self._ahead = StepsAhead(options, None if cell is None else cell.source)
        self._heap_at_ticks, self._heap_at_steps = HeapReader(), HeapReader(early=_EARLY_LOOKS)
        self._heap_counts = heap_bytes() is not None
        self._host = HostSampler(self._tick)
        self._devices = None if options.no_nvml else DeviceSampler(hz=options.nvml_hz)
        self._flags: dict[str, Any] | None = None
        self._host_start: dict[str, Any] = {}
        self._notes: list[str] = []
        self._start_cost_ns = 0
        self._runs = options.folder
        self._off_main = OtherThreads()

    def start(self) -> None:
        """Begin everything, the kernel recording last."""
        began = time.perf_counter_ns()
        # the cell may change the working directory, or the variable; where that one is gone, saving says so
        with contextlib.suppress(OSError):
            self._runs = runs_folder(self._options.folder)
        self._descriptors.take()
        self._host_start = host_start()
        self._optimizers.install()
        self._other_profilers.install()
        self._loaders.install()
        self._signals.begin()
        self._lines.install()
        self._modules.install()
        if self._devices is not None:
            self._devices.start()
        self._begin_limit()
        self._host.start()
        self._stacks.start()
        try:
            self._window.start()
        except RuntimeError as error:
            self._notes.append(f"no kernel recording: torch's profiler could not start ({error}); restart the kernel")
        self._start_cost_ns = time.perf_counter_ns() - began

    def abandon(self) -> None:
        """End everything and keep nothing; never raises."""
        self._descriptors.release()
        ends = (
            self._look.take_off,
            self._window_close,
            self._other_profilers.remove,
            self._optimizers.remove,
            self._loaders.remove,
            self._signals.abandon,
        )
        for end in (*ends, self._host.stop, self._lines.remove, self._modules.remove, self._stacks.abandon):
            with contextlib.suppress(Exception):
                end()
        if self._devices is not None:
            self._devices.stop()

    def finish(
        self, context: RunContext, cell_start_ns: int, cell_end_ns: int, *, pack_later: bool = False
    ) -> Captured:
        """End everything, save it, and return it, with `context` completed."""
        began = time.perf_counter_ns()
        self._descriptors.release()
        self._look.take_off()
        self._stacks.ask_to_end()
        self._signals.end(first=True)
        failed = context.outcome is not None and context.outcome.error is not None
        self._window.close(failed=failed)
        self._other_profilers.remove()
        self._optimizers.remove()
        self._loaders.remove()
        self._signals.end(first=False)
        stacks, stack_tables = self._stacks.finish()
        followed, line_events = self._lines.finish()
        modules, module_calls = self._modules.finish()
        look, looked = self._look.result()
        facts = self._signals.facts()
        log = ReadingLog() if self._devices is None else self._devices.stop()
        host = self._host.stop()
        folder = RunFolder(self._runs, context.run_id or "")
        trace = self._save_trace(folder, save_unpacked if pack_later else save_trace)
        self._note_problems(trace)
        iterations, window = self._window.iterations(), self._window.describe(cell_start_ns, cell_end_ns)
        context = msgspec.structs.replace(
            context,
            **facts,
            run_number=folder.number,
            environment=self._environment(log),
            loaders=self._loaders.facts(),
            optimizers=self._optimizers.facts(),
            window=window,
            lines=followed or learned_lines(stacks, self._window.recording.start_ns, self._window.recording.end_ns),
            stacks=stacks,
            modules=modules,
            look=look,
            sampling=self._sampling(log, trace),
            host_start=self._host_start,
            notes=self._all_notes(log),
            cost=Cost(
                start_ns=self._start_cost_ns,
                stop_ns=time.perf_counter_ns() - began + self._window.pause_ns,
                pause_ns=self._window.pause_ns,
                sampler_share=self._sampler_share(log, cell_end_ns - cell_start_ns),
                operator_ns=self._operator_cost_ns(window),
            ),
        )
        large = (line_events, iterations, *stack_tables, module_calls, *looked)
        context = folder.write(context, (log.table, host), large)
        kineto = folder.keep(None if trace is None else trace.path)
        packing = None if trace is None or folder.path is None else trace.packing
        return Captured(context, folder.path, kineto, log, host, large, folder.unsaved, packing)

    def live(self, elapsed_ns: int) -> Live:
        """The status, from any thread."""
        state = "recording" if self._window.running else ("sampling" if self._steps.seen else "waiting")
        batch, batches = self._loaders.place()
        return Live(
            elapsed_ns=elapsed_ns,
            steps=self._steps.seen,
            steps_a_second=self._steps.rate_hz(),
            steps_wanted=self._options.steps_to_skip + self._options.steps_to_record,
            batch=batch,
            batches=batches,
            state=state,
            recorded_ns=self._window.recorded_for_ns,
            devices=() if self._devices is None else tuple(self._devices.latest()),
            readings=() if self._devices is None else self._devices.recent(),
            facts=() if self._devices is None else tuple(self._devices.facts()),
            resident_bytes=self._host.latest_bytes,
        )

    def _window_close(self) -> None:
        self._window.close(failed=True)

    def _optimizer_stepped(self, optimizer: Any, times: int) -> None:
        if exclusive_session.forked():
            return
        self._off_main.optimizer_stepped()
        if self._flags is None:
            self._first_step()
        self._signals.after_step(optimizer, times)
        before = self._steps.seen
        if times == 1 or id(optimizer) not in self._loops:
            self._loops[id(optimizer)] = self._places.path_of(sys._getframe())
        loop = self._loops[id(optimizer)]
        self._steps.optimizer_stepped(id(optimizer), self._optimizers.last_ns, loop)
        if self._steps.seen > before and self._window.recording.running:
            self._recorded_step_ended()
        self._window.optimizer_stepped()
        self._look.optimizer_stepped(optimizer, loop)

    def _batch_asked(self, batches: int) -> None:
        self._off_main.batch_asked()
        if batches and self._flags is None:
            self._first_step()
        self._signals.before_batch()
        self._optimizers.batch_asked()
        self._steps.batches_used(batches)
        self._window.batch_asked()
        self._look.batch_asked()

    def _first_step(self) -> None:
        # the flags that hold while it trains, not those that a `with` has put back by the end of the cell
        self._flags = read_flags()

    def _recording_began(self) -> None:
        self._look.look_again()
        self._clock.mark()
        self._begin_limit()
        self._lines.begin()
        self._stacks.begin()
        self._modules.begin()

    def _recording_ends(self) -> None:
        self._modules.pause()
        self._lines.pause()
        self._stacks.pause()
        self._signals.pause()
        self._clock.mark()

    def _begin_limit(self) -> None:
        with contextlib.suppress(OSError, psutil.Error):  # without a free descriptor an earlier limit stays
            heap, mapped = heap_counts() or (None, 0)
            resident, free = psutil.Process().memory_info().rss, psutil.virtual_memory().available
            in_use = resident if heap is None else heap
            self._limit.begin(in_use, free, step_ns=self._steps.recent_ns())
            self._unused.begin(resident, in_use, free)
            self._gaps.begin(resident, in_use + mapped)
        self._heap_at_ticks.begin()
        self._heap_at_steps.begin()
        self._even_work.begin()
        self._even_lines.begin()

    def _tick(self, resident_bytes: int) -> None:
        self._stacks.tick()
        self._modules.tick()
        self._signals.tick(resident_bytes)
        self._look.tick()
        self._look_elsewhere()
        self._host.calm = not self._window.running
        if not self._window.running:
            self._gaps.ended(resident_bytes)
            self._follow_the_work()
            return
        held = self._heap_at_ticks.bytes_if_due(resident_bytes) if self._heap_counts else resident_bytes
        self._held_bytes = self._held_bytes if held is None else held
        fragmented = held is not None and self._unused.passed(resident_bytes, held)
        if held is not None and self._heap_counts:
            self._gaps.note(resident_bytes, self._heap_at_ticks.allocated_bytes)
        full = held is not None and self._limit.passed(held, device=cuda_in_use())
        over = "bytes" if fragmented or full or self._ahead.evaluated_enough(self._steps.seen) else None
        self._window.check(over or ("even work" if self._shows_enough() else self._went_on()))

    def _shows_enough(self) -> bool:
        """Whether a cell without steps has worked evenly for a while."""
        if not self._ahead.without(self._steps.seen):
            return False
        even = self._even_work.note(time.monotonic_ns(), self._limit.events)
        for was in self._main_line.ask(self._held_bytes):
            self._ahead.looked(was.gradients, was.heap_bytes)
            self._even_lines.note(was.at_ns, was.place, was.heap_bytes)
            even = self._even_lines.even() or even
        patient = self._ahead.expected(self._steps.seen)
        return even and (not patient or self._window.recorded_for_ns >= self._ahead.patience_ns)

    def _went_on(self) -> str | None:
        """`pause` where the steps, however few, are over, and what the cell does instead goes round."""
        asked = self._options.steps is not None or self._options.max_seconds is not None
        return "pause" if self._goes_round and self._steps.pausing and not asked else None

    def _look_elsewhere(self) -> None:
        """Tell the look where a cell with steps is, and note whether it goes round there."""
        if self._options.no_close_look or not self._steps.seen:
            return
        for was in self._main_line.ask(self._held_bytes):
            if was.path:
                self._look.seen_at(was.path, was.at_ns)
            self._even_lines.note(was.at_ns, was.place, was.heap_bytes)
            self._goes_round = self._steps.pausing and self._even_lines.even()

    def _follow_the_work(self) -> None:
        """Tell the look where a cell without steps is; record anew where it does something else than was recorded."""
        if self._steps.seen or not self._window.over_in_the_cell:
            return
        over = self._window.ended_by == "even work" and self._ahead.without(self._steps.seen)
        for was in self._main_line.ask(0):
            self._look.found_at(was.path)
            if over and self._even_lines.elsewhere(was.at_ns, was.place) and not self._look.installed:
                self._window.record_again()
                return

    def _recorded_step_ended(self) -> None:
        if (heap := self._heap_at_steps.bytes_if_due()) is not None:
            self._limit.step_ended(heap, step=self._steps.seen)

    def _environment(self, log: ReadingLog) -> Environment:
        driver = next((facts.driver_version for facts in log.static if facts.driver_version), None)
        return msgspec.structs.replace(read_environment(driver), **(self._flags or {}))

    def _operator_cost_ns(self, window: Window) -> float | None:
        """Only where it is needed: on a device's run, and where enough steps ran with and without the recording, the
        cost shows otherwise."""
        recording = self._window.recording
        recorded, plain = window.recorded_step_ns, window.plain_step_ns
        shown = recorded is not None and plain is not None and plain <= recorded
        return None if shown or recording.with_device or not recording.end_ns else operator_cost_ns()

    def _save_trace(self, folder: RunFolder, save: Saver) -> SavedTrace | None:
        recording = self._window.recording
        if recording.results is None:
            return None
        try:
            trace, reason = save(recording, folder.path)
        except OSError as error:
            folder.fail(error, "the kernel recording was not saved")
            self._notes.append("the kernel recording is lost: there was no room for it, in a temporary folder neither")
            return None
        finally:
            recording.release()
        if reason is not None:
            folder.fail(reason, "the kernel recording was not saved")
        return trace

    def _all_notes(self, log: ReadingLog) -> tuple[str, ...]:
        watches = (self._signals, log, self._lines, self._stacks, self._modules)
        return (*self._notes, *(note for each in watches for note in each.notes))

    def _note_problems(self, trace: SavedTrace | None) -> None:
        recording = self._window.recording
        self._notes.extend((*self._window.notes, *recording.problems, *self._off_main.notes()))
        if trace is not None and not trace.whole:
            self._notes.append("the kernel recording was cut short while it was written: there was no room for it")
        self._notes.extend(cupti.diagnose(recording.messages, None if trace is None else trace.events))
        if self._host.failure:
            self._notes.append(self._host.failure)

    def _sampling(self, log: ReadingLog, trace: SavedTrace | None) -> dict[str, Any]:
        marks = [] if trace is None else trace.clock_marks_ns
        offset, problem = self._clock.check(marks)
        if problem is not None:
            self._notes.append(problem)
        facts = {name: value for name, value in log.to_dict().items() if name != "table"} | {"host_hz_asked": 10.0}
        gaps = self._gaps
        own = {"gaps_bytes": gaps.bytes, "discarded_bytes": gaps.discarded_bytes, "discarded_ns": gaps.discarded_ns}
        return {**facts, "clock_offset_ns": offset, "discarded_events": self._limit.discarded_events, **own}

    def _sampler_share(self, log: ReadingLog, cell_ns: int) -> float | None:
        return (self._host.cost_ns / cell_ns if cell_ns > 0 else 0.0) + (log.cost_share or 0.0)
