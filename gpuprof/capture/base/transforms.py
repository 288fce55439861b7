"""Whether a transform of `torch.func` runs (`vmap`, `jvp`, `grad`)."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

# whose functions run while a transform does
_TRANSFORMS = ("torch/_functorch/vmap.py", "torch/_functorch/eager_transforms.py", "torch/_vmap_internals.py")


def transformed() -> bool:
    """Each operator in a transform puts back at its end what torch's dispatcher was told at its beginning, and Python
    code may run in between: a callback for a tensor that is freed, and with it what waits for the main thread. A mode
    that comes or goes there leaves the dispatcher looking for one where none is, and operators of a look are
    transformed as well.

    Within an operator torch takes the transform off its stack for a while, so that the running functions are asked,
    too.
    """
    known: Any = getattr(sys.modules.get("torch"), "_C", None)
    stack = getattr(getattr(known, "_functorch", None), "peek_interpreter_stack", None)
    if stack is not None and stack() is not None:
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.replace("\\", "/").endswith(_TRANSFORMS):
            return True
        frame = frame.f_back
    return False
