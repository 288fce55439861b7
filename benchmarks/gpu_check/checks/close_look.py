"""Does a close look leave weights, random numbers and graphs as they are, wait for nothing, hash and count right?"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.gpu_check import clocks
from benchmarks.gpu_check.check import Check
from benchmarks.gpu_check.device_reference import device_hash
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.capture.look.device_hash import DeviceHash
from gpuprof.capture.look.zeros import ZeroCounter
from gpuprof.model.kinds import NodeFate

_SIZES = (1, 7, 4096, 262_144, 262_145, 20_000_003)


def run(check: Check) -> None:
    plain, looked = (_Training(check, looked_at=looked_at) for looked_at in (False, True))
    check.note(fault=repr(looked.look.failure))
    check.expect("the look has no fault", looked.look.failure is None and looked.look.active is False)
    check.expect(
        "weights, optimizer state and random numbers are equal",
        all(torch.equal(one, other) for one, other in zip(plain.state, looked.state, strict=True)),
    )
    tables, facts = looked.look.result()
    check.note(
        operators=len(tables[0]), values=len(tables[1]), cost_ns=facts.cost_ns, ended_by=facts.ended_by,
        fingerprinted_share=facts.fingerprinted_share, plain_step_ns=plain.step_ns, looked_step_ns=looked.step_ns,
        left_out=looked.fingerprints_fault,
    )  # fmt: skip
    check.expect("two iterations are seen", facts.iterations == 2 and len(tables[0]) > 50)
    check.only_on_device("nothing waits for the device before the end", looked.waited is None)
    check.only_on_device("every fingerprint is taken", looked.fingerprints_fault is None)
    _hashes(check)
    _zeros(check)
    _nodes(check)
    if check.on_device:
        _graph(check)


class _Training:
    """Some steps of a small model, two of them looked at or not. `waited` is what a wait of the device raised."""

    def __init__(self, check: Check, *, looked_at: bool):
        torch.manual_seed(5)
        self._device = check.device
        self._net = nn.Sequential(
            nn.Linear(256, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 8)
        ).to(check.device)
        self._optimizer = torch.optim.AdamW(self._net.parameters())
        self.waited: str | None = None
        self._steps(3)
        self.look = CloseLook(__file__, iterations=2, most_seconds=30)
        if looked_at:
            self.look.start()
            self.step_ns = self._steps(2)
            self.look.stop()
        else:
            self.step_ns = self._steps(2)
        self._steps(2)
        states = [each for values in self._optimizer.state.values() for each in values.values()]
        random = torch.cuda.get_rng_state() if check.on_device else torch.get_rng_state()
        self.state = [each.cpu() for each in (*self._net.state_dict().values(), *states, random)]

    @property
    def fingerprints_fault(self) -> str | None:
        return self.look._fingerprints.failure

    def _steps(self, count: int) -> float:
        return clocks.host_ns(lambda: self._silently(count), self._device) / count

    def _silently(self, count: int) -> None:
        """Where anything waits for the device, torch raises."""
        if self._device == "cuda":
            torch.cuda.set_sync_debug_mode("error")
        try:
            for _ in range(count):
                self._step()
        except RuntimeError as error:
            self.waited = str(error)[:200]
        finally:
            if self._device == "cuda":
                torch.cuda.set_sync_debug_mode("default")

    def _step(self) -> None:
        self._optimizer.zero_grad()
        inputs = torch.randn(64, 256, device=self._device)
        self._net(inputs).square().mean().backward()
        self._optimizer.step()
        if self.look_is_on:
            self.look.iteration_ended()

    @property
    def look_is_on(self) -> bool:
        look: Any = getattr(self, "look", None)
        return look is not None and look.active


def _hashes(check: Check) -> None:
    """In any order, from several streams, with a reference on the host; one kernel or two for each."""
    device = DeviceHash(torch.device(check.device))
    contents = [torch.randint(0, 256, (size,), dtype=torch.uint8) for size in (*_SIZES, *_SIZES[:-1] * 7)]
    copies = [each.to(check.device) for each in contents]
    streams = [torch.cuda.current_stream(), torch.cuda.Stream()] if check.on_device else [None]
    began_ns, at = time.perf_counter_ns(), []
    device.warm_up(_number(streams[0]))
    ready_ns = time.perf_counter_ns()
    for number, each in enumerate(copies):
        stream = streams[number % len(streams)]
        with torch.cuda.stream(stream):
            at.append(device.enqueue(each.untyped_storage(), each.numel(), _number(stream)))
    check.note(hash_warm_up_ns=ready_ns - began_ns, hash_enqueue_ns=(time.perf_counter_ns() - ready_ns) / len(copies))
    device.rest()
    found = device.numbers()
    expected = [device_hash(each.numpy()) for each in contents]
    check.expect(
        "the device's hashes are the reference's", [found[each] for each in at if each is not None] == expected
    )
    check.expect("the device multiplies bytes", device.multiplies)


def _number(stream: Any) -> int:
    return 0 if stream is None else int(stream.cuda_stream)


def _zeros(check: Check) -> None:
    """Counts of a device are those of the host, and it waits for nothing meanwhile."""
    scattered = (torch.rand(700, 600, generator=torch.Generator().manual_seed(1)) < 0.01).float()
    one_hot = nn.functional.one_hot(torch.arange(500) * 7 % 400, 400).double()
    matrices = (scattered, torch.diag(torch.rand(600) + 1).half(), one_hot, one_hot.T, scattered.bfloat16())
    device, host = (ZeroCounter(lambda: 10**12, inspect=True) for _ in range(2))
    copies = [each.to(check.device) for each in matrices]
    waited = None
    if check.on_device:
        torch.cuda.set_sync_debug_mode("error")
    try:
        found = [device.count(each, each.untyped_storage()) for each in copies]
    except RuntimeError as error:
        found, waited = [], str(error)[:200]
    finally:
        if check.on_device:
            torch.cuda.set_sync_debug_mode("default")
    expected = [host.told(host.count(each, each.untyped_storage())) for each in matrices]
    told = [device.told(each) for each in found]
    check.note(zeros=[share for share, _ in told], zero_patterns=[pattern for _, pattern in told], zeros_waited=waited)
    check.expect("nothing waits for the device while zeros are counted", waited is None)
    alike = [abs(one[0] - other[0]) < 1e-9 and one[1] == other[1] for one, other in zip(told, expected, strict=False)]
    check.expect("the device's zeros are the host's", len(told) == len(expected) and all(alike))
    check.expect("counting zeros has no fault", device.failure is None)


def _nodes(check: Check) -> None:
    """Backward passes run on a thread of their own there: their operators know those of the forward pass all the same,
    and nodes that are freed there are seen freed."""
    net = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)).to(check.device)
    inputs = torch.randn(32, 64, device=check.device)
    look = CloseLook(__file__, iterations=4, most_seconds=30)
    kept = []
    with look:
        for turn in range(4):
            out = net(inputs).sum()
            if turn == 1:
                out.backward()
            elif turn == 2:
                kept.append(out)
            del out
            look.iteration_ended()
    (operators, *_), facts = look.result()
    forward, iteration = operators["forward_operator"], operators["iteration"]
    used = sorted(set(iteration[forward[forward >= 0]].tolist()))
    tanh = np.array([facts.names[each] == "aten::tanh" for each in operators["name"].tolist()])
    fates = [NodeFate(each).name for each in operators["node"][tanh].tolist()]
    check.note(nodes_used_in=used, node_fates=fates)
    check.expect("a backward pass tells whose nodes run", used == [1])
    check.expect("nodes are seen freed and kept", fates == ["FREED", "FREED", "KEPT", "FREED"])


def _graph(check: Check) -> None:
    """A graph that is captured and replayed while it is looked at gives what it gives without."""
    still = torch.zeros(1024, device="cuda")
    look = CloseLook(__file__, most_seconds=30)
    with look:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            still * 2 + 1
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            made = still * 2 + 1
        still.fill_(3)
        graph.replay()
    check.expect("a graph can be captured and replayed meanwhile", bool((made == 7).all()) and look.failure is None)
