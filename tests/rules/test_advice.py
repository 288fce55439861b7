"""What the rules say in the cases that differ: other hardware, other settings, no device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment, Loader, Optimizer
from gpuprof.model.memory import Allocator
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import judge, rule
from tests.analyses.random_runs import runs
from tests.rules.cases.host.python_loop_over_batch import loops as sample_loops
from tests.rules.cases.kernels.fp32_matmul import _kernels as fp32_kernels
from tests.rules.cases.memory.activations_dominate_peak import _steps as memory_steps
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30


def finding(name: str, trace: Trace) -> Finding:
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding), found
    return found


def _loading(
    wait_us: float,
    *,
    workers: int,
    cores: int | None,
    device: bool,
    dataset: str | None = None,
    iterable: bool | None = None,
) -> TraceBuilder:
    """Ten steps of 100 ms that begin with a wait."""
    environment = Environment(cores_allowed=cores)
    loaders = (Loader(workers=workers, line=3, dataset=dataset, iterable=iterable),)
    builder = TraceBuilder().context(loaders=loaders, environment=environment)
    for at in range(0, 1_000_000, 100_000):
        builder.step(at, 100_000).data_wait(at, wait_us, workers=workers)
        builder.operator("aten::stack", at, wait_us).operator("aten::mm", at + wait_us, 100_000 - wait_us)
        if device:
            builder.kernel("gemm", at + wait_us, 100_000 - wait_us, launch_at_us=at + wait_us)
    return builder


@pytest.mark.parametrize(
    ("wait_us", "workers", "cores", "suggested"),
    [
        (50_000, 0, 16, "num_workers=1"),
        (75_000, 0, 16, "num_workers=3"),
        (75_000, 0, None, "num_workers=3"),
        (75_000, 0, 3, "num_workers=2"),
        (75_000, 0, 1, None),
        (50_000, 2, 16, "num_workers=4"),
        (50_000, 2, 3, None),
    ],
)
def test_workers_are_advised_only_as_far_as_they_help(
    wait_us: float, workers: int, cores: int | None, suggested: str | None
) -> None:
    change = finding("input_stall", _loading(wait_us, workers=workers, cores=cores, device=True).build()).change
    if suggested is None:
        assert "num_workers" not in change
        assert "cheaper" in change
    else:
        assert suggested in change
        assert ("16" not in change) and ("None" not in change)


def test_without_a_device_a_cheaper_batch_comes_first() -> None:
    found = finding("input_stall", _loading(30_000, workers=0, cores=4, device=False, dataset="Digits").build())
    assert found.title.startswith("The inference loop waits")
    assert found.change.startswith("Make the batches of `Digits` cheaper")
    assert "device_idle_in_wait_ms" not in found.evidence
    assert found.saving is not None and found.saving.low_ns == 0


def test_a_loop_with_a_backward_pass_is_a_training_loop() -> None:
    loading = _loading(30_000, workers=0, cores=4, device=False)
    loading.operator("autograd::engine::evaluate_function: MmBackward0", 31_000, 10)
    assert finding("input_stall", loading.build()).title.startswith("The training loop waits")


@pytest.mark.parametrize(
    ("dataset", "iterable", "advice"),
    [
        ("TensorDataset", False, "sampler=loader.batch_sampler"),
        ("Digits", True, "yield whole batches"),
        ("Digits", False, "`__getitems__`"),
    ],
)
def test_what_is_advised_can_be_done_with_that_kind_of_dataset(dataset: str, iterable: bool, advice: str) -> None:
    built = _loading(30_000, workers=0, cores=4, device=False, dataset=dataset, iterable=iterable).build()
    change = finding("input_stall", built).change
    assert [said for said in ("batch_sampler", "yield whole", "`__getitems__`") if said in change] == [
        said for said in ("batch_sampler", "yield whole", "`__getitems__`") if said in advice
    ]


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_one_worker_at_most_is_advised_for_an_iterable_dataset(workers: int, device: bool) -> None:
    """Several would each read all samples."""
    built = _loading(75_000, workers=workers, cores=16, device=device, iterable=True).build()
    change = finding("input_stall", built).change
    assert ("num_workers=1," in change) == (workers == 0)
    assert change.count("num_workers=") == (workers == 0)
    assert "Several workers would each give all samples" in change


@pytest.mark.parametrize(("iterable", "warned"), [(None, True), (False, False)])
def test_where_the_kind_of_dataset_is_unknown_the_advice_says_so(iterable: bool | None, warned: bool) -> None:
    change = finding(
        "input_stall", _loading(75_000, workers=0, cores=16, device=True, iterable=iterable).build()
    ).change
    assert "num_workers=3" in change
    assert ("If the dataset is an `IterableDataset`" in change) == warned


@pytest.mark.parametrize(
    ("workers", "cores", "words"),
    [(1, 2, "2 cores for 1 worker"), (2, 3, "3 cores for 2 workers"), (2, 1, "1 core for")],
)
def test_workers_that_fill_the_cores_are_said_in_words(workers: int, cores: int, words: str) -> None:
    change = finding("input_stall", _loading(50_000, workers=workers, cores=cores, device=True).build()).change
    assert f"This process has {words}" in change and "only while they wait" in change


def test_workers_are_not_advised_for_batches_that_they_could_only_hand_over() -> None:
    builder = TraceBuilder().context(environment=Environment(cores_allowed=16))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).data_wait(at, 500).operator("aten::stack", at, 500)
    change = finding("input_stall", builder.operator("aten::mm", 9_500, 500).build()).change
    assert "num_workers" not in change
    assert "would not help" in change


@pytest.mark.parametrize(("wait_us", "told"), [(190, False), (210, True)])
def test_a_fast_batch_is_part_of_the_work_unless_it_takes_a_fifth_of_it(wait_us: float, told: bool) -> None:
    builder = TraceBuilder().context(environment=Environment(cores_allowed=2))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).data_wait(at, wait_us).operator("aten::stack", at, wait_us)
        builder.operator("aten::mm", at + wait_us, 1000 - wait_us)
    assert (rule("input_stall").check(Results(builder.build())) is not None) == told


def test_a_value_read_in_every_step_is_mentioned_on_a_run_without_a_device() -> None:
    builder = TraceBuilder()
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).operator("aten::mm", at, 900)
        builder.operator("aten::item", at + 950, 20).operator("aten::_local_scalar_dense", at + 955, 10)
    found = finding("sync_in_step", builder.build())
    assert (found.severity, found.saving, found.evidence["host_us"]) == (Severity.LOW, None, 100)


def test_a_value_read_now_and_then_is_not() -> None:
    builder = TraceBuilder()
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).operator("aten::mm", at, 900)
    builder.operator("aten::item", 950, 20).operator("aten::_local_scalar_dense", 955, 10)
    assert rule("sync_in_step").check(Results(builder.build())) is None


def test_idle_in_a_wait_for_data_is_not_the_fault_of_a_read() -> None:
    """GIVEN a read that returns just before the loop waits for its batch, with the device idle all that time."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).data_wait(at, 500).operator("aten::stack", at, 500)
        builder.kernel("gemm", at + 500, 490, launch_at_us=at + 500)
        builder.operator("aten::item", at + 510, 485).sync(at + 510, 485)
    results = Results(builder.build())
    assert rule("sync_in_step").check(results) is None
    assert isinstance(rule("input_stall").check(results), Finding)


def test_before_ampere_only_fp16_is_advised() -> None:
    builder = TraceBuilder().device(0, "Tesla V100-SXM2-16GB", compute_capability=(7, 0))
    change = finding("fp32_matmul", builder.kernel("volta_sgemm_128x64_nn", 0, 900, launch_at_us=0).build()).change
    assert "torch.float16" in change and "GradScaler" in change and "bfloat16" not in change


def test_a_device_without_tensor_cores_is_left_in_peace() -> None:
    builder = TraceBuilder().device(0, "Tesla P100", compute_capability=(6, 0))
    trace = builder.kernel("maxwell_sgemm_128x64_nn", 0, 900, launch_at_us=0).build()
    assert rule("fp32_matmul").check(Results(trace)) is None


def test_precision_is_no_matter_where_the_device_waits() -> None:
    """The same kernels among twice as much idle time."""
    builder = TraceBuilder().device(0, "NVIDIA A100", compute_capability=(8, 0))
    builder.kernel("ampere_sgemm_128x64_tn", 0, 600, launch_at_us=0).operator("aten::mm", 0, 1800)
    assert rule("fp32_matmul").check(Results(builder.build())) is None
    assert isinstance(rule("fp32_matmul").check(Results(fp32_kernels("ampere_sgemm_128x64_tn", 600))), Finding)


def test_the_optimizer_is_judged_by_the_time_of_its_kernels() -> None:
    """GIVEN forty kernels a step that the device runs in 100 µs of 1 ms, or, queued densely, in 20, while it is busy
    with others or has nothing else to do."""

    def steps(apart_us: float, *, busy: bool = True) -> Trace:
        builder = TraceBuilder()
        for at in range(0, 10_000, 1000):
            builder.step(at, 1000).optimizer_step("SGD", at + 100, 300).operator("aten::mm", at, 1000)
            if busy:
                builder.kernel("gemm", at + 20, 480, launch_at_us=at + 10)
            for number in range(40):
                start = at + 500 + number * apart_us
                builder.kernel("add", start, 0.5, launch_at_us=at + 101 + number * 7)
        return builder.build()

    assert finding("unfused_optimizer", steps(2.5)).evidence["kernels_per_step"] == 40
    assert rule("unfused_optimizer").check(Results(steps(0.5))) is None
    waits = finding("unfused_optimizer", steps(0.5, busy=False)).evidence
    # of each step the 1 µs before the first launch, and 105 until the device could have begun
    assert waits["launch_waits_ms"] == pytest.approx(10 * 0.106)


def _optimizer(name: str, operators: int, *, launches: bool = False, also: str = "aten::mul_", **known: Any) -> Trace:
    builder = TraceBuilder().step(0, 1000).optimizer_step(name, 0, 500).operator("aten::mm", 600, 400)
    if known:
        builder.context(optimizers=(Optimizer(name=name, **{"elements": 100, **known}),))
    for number in range(operators):
        builder.operator(also if number == 1 else "aten::add_", number * 8, 5)
        if launches:
            builder.kernel("add", number * 8 + 6, 5, launch_at_us=number * 8)
    return builder.build()


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("SGD", "SGD(..., fused=True)"),
        ("Adagrad", "foreach=True"),
        ("RMSprop", "foreach=True"),
        ("MySGD", "torch._foreach_"),
    ],
)
def test_each_optimizer_on_a_device_gets_what_it_has(name: str, advice: str) -> None:
    assert advice in finding("unfused_optimizer", _optimizer(name, 50, launches=True)).change


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adagrad"])
def test_on_the_cpu_those_that_gain_are_fused(name: str) -> None:
    """At least a fifth of the step was saved by each, measured."""
    found = finding("unfused_optimizer", _optimizer(name, 50))
    assert f"{name}(..., fused=True)" in found.change
    assert found.evidence["optimizer_ms"] == 0.5
    assert found.saving is not None and found.saving.low_ns > 0.2 * 500_000


def test_less_is_promised_of_a_few_tensors() -> None:
    """What a step takes besides them stays."""

    def saved(parameters: int) -> float:
        saving = finding("unfused_optimizer", _optimizer("Adam", 50, parameters=parameters)).saving
        assert saving is not None
        return saving.central_ns

    assert saved(7) < saved(8) == saved(20)


@pytest.mark.parametrize("name", ["RMSprop", "NAdam", "Adamax", "ASGD", "Rprop", "MySGD", "SGD"])
def test_on_the_cpu_others_are_left_in_peace(name: str) -> None:
    """With foreach ASGD took 128 to 177 % of the time; SGD may be without momentum where its tensors are unknown."""
    assert rule("unfused_optimizer").check(Results(_optimizer(name, 50))) is None


@pytest.mark.parametrize(
    ("operators", "elements", "fires"), [(60, 2_000_000, True), (60, 2_000_020, False), (40, 100, False)]
)
def test_sgd_on_the_cpu_is_fused_with_momentum_and_small_tensors_only(
    operators: int, elements: int, fires: bool
) -> None:
    """GIVEN 20 tensors: three operators for each with momentum, two with nothing but weight decay."""
    trace = _optimizer("SGD", operators, parameters=20, elements=elements, device="cpu")
    assert (rule("unfused_optimizer").check(Results(trace)) is not None) == fires


@pytest.mark.parametrize("launches", [False, True])
@pytest.mark.parametrize(("name", "also"), [("SparseAdam", "aten::mul_"), ("Adagrad", "aten::_indices")])
def test_sparse_gradients_cannot_be_fused(name: str, also: str, launches: bool) -> None:
    assert rule("unfused_optimizer").check(Results(_optimizer(name, 50, launches=launches, also=also))) is None


@pytest.mark.parametrize(("central_ns", "claimed"), [(890_000, True), (900_000, False)])
def test_a_saving_beyond_the_optimizers_own_time_is_not_claimed(
    monkeypatch: pytest.MonkeyPatch, central_ns: int, claimed: bool
) -> None:
    """GIVEN 0.5 ms on the host and 0.4 ms on the device, and what simulation might answer."""
    trace = _optimizer("SGD", 50, launches=True)

    def answer(_: Results, found: Finding, *_more: object, **_options: object) -> Finding:
        assert found.saving is not None
        return replace(found, saving=replace(found.saving, central_ns=central_ns, high_ns=2_000_000))

    monkeypatch.setattr("gpuprof.rules.training.unfused_optimizer.retimed", answer)
    assert (rule("unfused_optimizer").check(Results(trace)) is not None) == claimed


def test_devices_on_which_nothing_was_measured_are_left_in_peace() -> None:
    assert rule("unfused_optimizer").check(Results(_optimizer("Adam", 50, parameters=5, device="mps:0"))) is None


def test_a_fused_optimizer_is_left_in_peace() -> None:
    known = Optimizer(name="Adam", parameters=2, elements=2, fused=True)
    builder = TraceBuilder().step(0, 1000).optimizer_step("Adam", 0, 500).context(optimizers=(known,))
    for number in range(50):
        builder.operator("aten::add_", number * 10, 5)
    assert rule("unfused_optimizer").check(Results(builder.build())) is None


@pytest.mark.parametrize(
    ("turns", "sizes", "dimension"),
    [
        (64, (32, 64, 8), 1),  # time steps, a batch of 32
        (64, (64, 32, 8), 0),  # time steps first
        (16, (16, 16, 8), 0),  # time steps first, as many as samples
        (16, (16, 16, 8), 1),  # channels, as many as samples
        (32, (32, 8), 0),  # twice the batch
    ],
)
def test_loops_over_other_dimensions_are_not_over_the_batch(turns: int, sizes: tuple[int, ...], dimension: int) -> None:
    batch = 32 if turns == 64 else 16
    trace = sample_loops(turns, sizes=sizes, dimension=dimension, batch_size=batch)
    assert rule("python_loop_over_batch").check(Results(trace)) is None


@pytest.mark.parametrize("shape", [(16, 8), (16, 3, 32, 32)])
def test_whatever_a_sample_looks_like_the_loop_over_samples_is_found(shape: tuple[int, ...]) -> None:
    assert "16 times in a row" in finding("python_loop_over_batch", sample_loops(16, sizes=shape)).explanation


def test_without_a_loader_a_loop_over_slices_may_be_over_anything() -> None:
    answer = rule("python_loop_over_batch").check(Results(sample_loops(16, batch_size=None)))
    assert isinstance(answer, Abstention) and answer.needs.startswith("the batch size")


def test_the_limit_yields_to_what_fills_the_memory() -> None:
    """GIVEN 15 of 16 GiB at the peak, 10 of them activations."""
    judgement = judge(Results(memory_steps(10, stays_gib=5)), strict=True)
    assert [(each.rule, each.severity) for each in judgement.findings] == [("activations_dominate_peak", Severity.HIGH)]


def test_running_out_of_memory_is_said_first() -> None:
    allocator = Allocator(
        device=0,
        allocated_before_bytes=0,
        allocated_after_bytes=0,
        reserved_after_bytes=GIB,
        peak_allocated_bytes=15 * GIB,
        peak_reserved_bytes=16 * GIB,
        retries=1,
        ooms=1,
    )
    builder = TraceBuilder().device(0, memory_bytes=16 * GIB).context(allocators=(allocator,))
    found = finding("memory_near_limit", builder.kernel("gemm", 0, 10, launch_at_us=0).build())
    assert (found.title, found.severity) == ("The device ran out of memory", Severity.HIGH)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_no_run_is_too_odd_for_any_rule(trace: Trace) -> None:
    judgement = judge(Results(trace), strict=True)
    for each in judgement.findings:
        assert each.saving is None or 0 <= each.saving.low_ns <= each.saving.high_ns <= trace.span_ns
    assert all(isinstance(each, Abstention) for each in judgement.abstained)
