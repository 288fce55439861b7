"""The operators that make the dense gradient of an embedding table."""

from __future__ import annotations

LOOKUP, BAG = "aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"
DENSE_BACKWARDS = frozenset({LOOKUP, BAG})
