"""The operators that take a part of a tensor along one dimension."""

from __future__ import annotations

SELECT, SLICE, NARROW, UNBIND = "aten::select", "aten::slice", "aten::narrow", "aten::unbind"
SLICES = frozenset({SELECT, SLICE, NARROW, UNBIND})
