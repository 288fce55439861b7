"""Operators that reader and analyses know by name: those that take a part of a tensor along one dimension, and those
that make the dense gradient of an embedding table."""

from __future__ import annotations

SELECT, SLICE, NARROW, UNBIND = "aten::select", "aten::slice", "aten::narrow", "aten::unbind"
SLICES = frozenset({SELECT, SLICE, NARROW, UNBIND})
LOOKUP, BAG = "aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"
DENSE_BACKWARDS = frozenset({LOOKUP, BAG})
