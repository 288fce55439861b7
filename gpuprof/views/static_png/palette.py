"""Pictures with a palette: a third as large, and the colours that mean something exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuprof.views.theme import BUDGET, EVENTS, INK, PAPER

if TYPE_CHECKING:
    from PIL.Image import Image

_PLACES = np.array([1 << 16, 1 << 8, 1], np.int32)


def flattened(picture: Image) -> Image:
    """An RGB picture with 256 colours; those of the kinds of time stay exact, however little there is of one."""
    from PIL.Image import Dither, fromarray

    exact = sorted({kind.light for kind in (*EVENTS.values(), *BUDGET.values())} | {INK, PAPER})
    kept = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in exact]
    others = picture.quantize(256 - len(exact), dither=Dither.NONE)
    palette = (others.getpalette() or [])[: 3 * (256 - len(exact))]
    index = np.array(others)
    # one number a pixel: comparing three channels for each colour takes ten times as long
    pixels = np.asarray(picture) @ _PLACES
    for number, colour in enumerate(kept, len(palette) // 3):
        index[pixels == np.array(colour) @ _PLACES] = number
    flat = fromarray(index)
    flat.putpalette([*palette, *(part for colour in kept for part in colour)])
    return flat
