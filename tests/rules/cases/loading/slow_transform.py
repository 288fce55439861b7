"""Ten steps of 100 ms, 60 of them a wait for batches that one process makes; one transform takes most of it."""

from gpuprof.model.context import Environment, Loader
from gpuprof.model.loading import Loading, TransformTime
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The transform `Resize` takes 75 % of the time in which batches are made",
    {"transform": "Resize", "transform_ms": 3, "sample_ms": 3.9, "timed_samples": 100, "processors_used": 0.95},
    lines=(3,),
    saving_share=0.45,
    basis="`Resize` costs the host nothing",
    change="on the device after the copy",
)


def loop(*loadings: Loading, workers: int = 0, cores: int = 1) -> Trace:
    loader = Loader(workers=workers, line=3, dataset="Photos", samples=1000)
    builder = TraceBuilder().context(loaders=(loader,), loadings=loadings, environment=Environment(cores_allowed=cores))
    for at in range(0, 1_000_000, 100_000):
        builder.step(at, 100_000).data_wait(at, 60_000, workers=workers).operator("aten::stack", at, 60_000)
        builder.kernel("gemm", at + 60_006, 39_980, launch_at_us=at + 60_000)
    return builder.build()


def timed(resize_ms: float = 3.0, cpu_share: float = 0.95, blocked: int | None = 0, batched: bool = False) -> Loading:
    """A hundred samples of 3.9 ms, and 0.1 ms each of collating."""
    return Loading(
        dataset="Photos",
        source="Photos",
        dataset_samples=1000,
        batches=10,
        samples=100,
        processes=1,
        sample_ns=390_000_000,
        collate_ns=10_000_000,
        cpu_ns=int(400_000_000 * cpu_share),
        blocked=blocked,
        batched=batched,
        transforms=(
            TransformTime(name="Resize", calls=100, duration_ns=int(resize_ms * 1e8)),
            TransformTime(name="ToTensor", calls=100, duration_ns=1_000_000),
        ),
    )


def fires() -> Trace:
    return loop(timed())


def stays_quiet() -> Trace:
    """49 % of the time."""
    return loop(timed(resize_ms=1.96))


def abstains() -> Trace:
    return loop()
