"""Line 3 convolves 40,000 samples with 8,001 taps; line 4 takes half of the time."""

from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Severity
from tests.rules.expected import Expected
from tests.rules.needless.unread_runs import recorded
from tests.support.look_builder import LookBuilder

EXPECTED = Expected(
    Severity.HIGH,
    "The long convolution at line 3 is faster by FFT",
    {
        "operator_share": 0.4701,
        "operator": "aten::convolution",
        "shapes": "1 channel, 32,000 samples, 8,001 taps",
        "alternative_share": 0.0598,
        "calls": 3,
    },
    lines=(3,),
    saving_share=0.3761,
    basis="the same share of the operators",
    change="Convolve by FFT at line 3: `k = weight.flip(-1)`",
)
SOURCE = "for x in data:\n    room = rooms[0]\n    y = F.conv1d(x, room)\n    total += y.exp()\n"
ARGUMENTS = "[null, null, null, [1], [0], [1], false, [0], 1]"
# of the time of the convolution, which is 80 ms, by the formula of the other way
TOOK_US, SAVED = 80_000, 0.9402


def looked(percent: float, iterations: int = 3, taps: int = 8_001, **facts: float) -> Trace:
    """Of the operators of an iteration so much in a convolution with so many taps."""
    look = LookBuilder(recorded("aten::convolution", "aten::exp", SOURCE))
    look.tensor("room", shape=(1, 1, taps))
    for each in range(iterations):
        look.tensor("x", shape=(1, 1, 32_000 + taps - 1))
        shape, where = (1, 1, 32_000), {"iteration": each, "arguments": ARGUMENTS, "line": 3}
        look.operator("aten::convolution", TOOK_US, reads="x room", makes="y", shape=shape, **where)
        look.operator(
            "aten::exp", TOOK_US * (100 / percent - 1), reads="y", makes="z", shape=shape, line=4, iteration=each
        )
        look.free("x y z")
    return look.build(**facts)


def inverted() -> Trace:
    """Line 3 inverts a matrix of 1000×1000, and multiplies the result with two columns."""
    look = LookBuilder(recorded("aten::linalg_inv", "aten::exp", SOURCE))
    for each in range(3):
        look.tensor("A", shape=(1000, 1000)).tensor("b", shape=(1000, 2))
        where, shape = {"line": 3, "iteration": each}, (1000, 2)
        look.operator("aten::linalg_inv", 50, reads="A", makes="inverse", shape=(1000, 1000), **where)
        look.operator("aten::mm", 5, reads="inverse b", makes="y", shape=shape, **where).free("inverse")
        look.operator("aten::exp", 45, reads="y", makes="z", shape=shape, line=4, iteration=each).free("y z")
    return look.build()


def fires() -> Trace:
    return looked(50)


def stays_quiet() -> Trace:
    return looked(4.9 / SAVED)


def abstains() -> Trace:
    """Recorded without a look."""
    return recorded("aten::convolution", "aten::exp", SOURCE).build()
