"""One attention a millisecond: product, scaling, softmax, product, and a feed-forward product."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.support.trace_builder import TraceBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "Attention without a fused kernel takes 40 % of the kernel time",
    {"attentions": 5, "attention_ms": 2.0, "products_ms": 1.0, "softmax_and_masks_ms": 1.0, "scores_bytes": 16384},
    saving_share=0.198,
    basis="simulated without 30 % to all",
    change="scaled_dot_product_attention(q",
)

LEFT, RIGHT, SCORES = "[[2, 64, 8], [2, 8, 64]]", "[[2, 64, 64], [2, 64, 8]]", "[[2, 64, 64], [], []]"
PIECES = (
    ("aten::bmm", LEFT, "gemm_a"),
    ("aten::mul", SCORES, "mul"),
    ("aten::_softmax", SCORES, "softmax"),
    ("aten::bmm", RIGHT, "gemm_b"),
)


def _attention(piece_us: float, *, softmax: str = "aten::_softmax", recorded: bool = True) -> Trace:
    types = '["c10::BFloat16", "c10::BFloat16", ""]'
    builder = TraceBuilder()
    for at in range(0, 5050, 1010):
        for number, (name, dims, kernel) in enumerate(PIECES):
            name = softmax if name == "aten::_softmax" else name
            builder.operator(name, at + 10 * number, 9, dims=dims, types=types)
            if recorded:
                builder.kernel(kernel, at + 6 + number * piece_us, piece_us, launch_at_us=at + 10 * number)
            else:
                builder.call("cudaLaunchKernel", at + 10 * number, 5)
        builder.operator("aten::addmm", at + 50, 9)
        if recorded:
            builder.kernel("gemm_c", at + 6 + 4 * piece_us, 1000 - 4 * piece_us, launch_at_us=at + 50)
            builder.sync(at + 65, 944)
    return builder.build()


def fires() -> Trace:
    return _attention(100)


def stays_quiet() -> Trace:
    """4.8 % of the kernel time."""
    return _attention(12)


def abstains() -> Trace:
    """Launches, but no device events."""
    return _attention(100, recorded=False)
