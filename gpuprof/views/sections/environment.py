"""The Environment tab: the machine, the flags, the loaders and the optimizers of the run."""

from __future__ import annotations

from gpuprof import units
from gpuprof.model.context import Environment, Loader, Optimizer
from gpuprof.model.device import Device
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.views.blocks import Block, TableBlock, TableCell
from gpuprof.views.sections.section import Section

_FLAGS = (
    ("matmul_precision", "float32 matmul precision"),
    ("tf32_matmul", "TF32 in matmuls"),
    ("tf32_cudnn", "TF32 in cuDNN"),
    ("cudnn_benchmark", "cuDNN autotuning (benchmark)"),
    ("deterministic", "deterministic algorithms"),
    ("anomaly_mode", "autograd anomaly detection"),
    ("launch_blocking", "CUDA_LAUNCH_BLOCKING"),
    ("sync_debug_mode", "sync debug mode"),
    ("allocator_config", "allocator configuration"),
)


def _blocks(report: Report) -> list[Block]:
    """What is known; rows of unknown value are left out."""
    trace = report.trace
    blocks: list[Block] = [TableBlock("Source", ("", ""), _source(trace))]
    environment = trace.context.environment
    devices = trace.devices or (environment.devices if environment else ())
    if devices:
        blocks.append(_devices(devices))
    if environment:
        blocks.append(TableBlock("Machine", ("", ""), _machine(environment)))
        blocks.append(TableBlock("Torch flags", ("", ""), _flags(environment)))
    if trace.context.loaders:
        heads = (
            "DataLoader",
            "workers",
            "batch size",
            "pinned memory",
            "prefetch factor",
            "persistent workers",
            "line",
        )
        blocks.append(TableBlock("DataLoaders", heads, tuple(_loader(loader) for loader in trace.context.loaders)))
    if trace.context.optimizers:
        heads = ("optimizer", "parameters", "state", "fused", "foreach", "steps", "line")
        rows = tuple(_optimizer(optimizer) for optimizer in trace.context.optimizers)
        blocks.append(TableBlock("Optimizers", heads, rows))
    return blocks


def _known(*pairs: tuple[str, str | None]) -> tuple[tuple[str, str], ...]:
    return tuple((label, text) for label, text in pairs if text)


def _source(trace: Trace) -> tuple[tuple[str, str], ...]:
    source = trace.source
    return _known(
        ("file", source.path),
        ("kind", "a trace file of torch.profiler" if source.kind == "kineto" else "recorded by gpuprof"),
        ("rank", None if source.rank is None else str(source.rank)),
        ("torch", source.torch),
        ("platform", source.platform),
        ("truncated", "yes: read up to its last whole event" if source.truncated else None),
        ("repaired", "yes: invalid JSON was mended while reading" if source.repaired else None),
        ("recorded span", units.duration(trace.span_ns)),
        ("steps found from", trace.steps_from),
    )


def _devices(devices: tuple[Device, ...]) -> TableBlock:
    heads = ("device", "name", "memory", "multiprocessors", "compute capability")
    return TableBlock("Devices", heads, tuple(_device(device) for device in devices))


def _device(device: Device) -> tuple[str | TableCell, ...]:
    # ROCm's numbers mean nothing in CUDA's terms
    major, minor = (None, None) if device.is_amd else device.compute_capability or (None, None)
    return (
        str(device.id),
        device.name or units.UNKNOWN,
        TableCell(units.size(device.memory_bytes), device.memory_bytes),
        _whole(device.multiprocessors),
        TableCell(units.UNKNOWN, None) if major is None else TableCell(f"{major}.{minor}", 10.0 * major + (minor or 0)),
    )


def _machine(environment: Environment) -> tuple[tuple[str, str], ...]:
    cores = environment.cores_allowed
    of_all = f" of {environment.cores_total}" if environment.cores_total else ""
    return _known(
        ("system", environment.system),
        ("processor", environment.processor),
        ("cores this process may use", None if cores is None else f"{cores}{of_all}"),
        ("host memory", units.size(environment.host_memory_bytes) if environment.host_memory_bytes else None),
        ("devices", None if environment.devices else "none"),
        ("driver", environment.driver),
        ("CUDA of the torch build", environment.cuda_build),
        ("HIP of the torch build", environment.hip_build),
        ("Python", environment.python),
        ("torch", environment.torch),
        ("gpuprof", environment.gpuprof),
        ("torch threads", None if environment.torch_threads is None else str(environment.torch_threads)),
        ("front end", environment.front_end),
    )


def _flags(environment: Environment) -> tuple[tuple[str, str], ...]:
    return tuple((label, _word(getattr(environment, field))) for field, label in _FLAGS)


def _word(value: object) -> str:
    if value is None:
        return units.UNKNOWN
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _loader(loader: Loader) -> tuple[str | TableCell, ...]:
    return (
        loader.dataset or "DataLoader",
        TableCell(str(loader.workers), loader.workers),
        _whole(loader.batch_size),
        _word(loader.pin_memory),
        _whole(loader.prefetch_factor),
        _word(loader.persistent_workers),
        _whole(loader.line),
    )


def _optimizer(optimizer: Optimizer) -> tuple[str | TableCell, ...]:
    return (
        optimizer.name,
        TableCell(
            f"{units.count(optimizer.elements)} in {units.plural(optimizer.parameters, 'tensor')}", optimizer.elements
        ),
        TableCell(units.size(optimizer.state_bytes), optimizer.state_bytes),
        _word(optimizer.fused),
        _word(optimizer.foreach),
        TableCell(units.count(optimizer.steps), optimizer.steps),
        _whole(optimizer.line),
    )


def _whole(number: int | None) -> TableCell:
    return TableCell(units.UNKNOWN if number is None else units.count(number), number)


SECTION = Section(order=70, key="environment", title="Environment", known=lambda report: True, blocks=_blocks)
