"""What only the text shows."""

from __future__ import annotations

import pytest

from gpuprof.errors import VerificationError
from gpuprof.verification.effects.unseen import refuse_awaiting, refuse_resets


@pytest.mark.parametrize("source", ["await thing()", "async with lock: pass", "x = [await y for y in z]"])
def test_awaiting_outside_functions(source: str) -> None:
    with pytest.raises(VerificationError, match="line 1 of the cell awaits"):
        refuse_awaiting(source)
    refuse_awaiting("async def work():\n    await thing()")


def test_a_reset_of_the_device() -> None:
    with pytest.raises(VerificationError, match="line 2 of the cell names cudaDeviceReset"):
        refuse_resets("runtime = ...\nruntime.cudaDeviceReset()")
    refuse_resets("torch.cuda.reset_peak_memory_stats()")
