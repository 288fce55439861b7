"""The tables of the close look: what operators of a few iterations read and made, value by value.

A *value* is the content of one storage from when it is made or written until it is freed or written again: a tensor,
its views and its aliases are one value, a tensor that is written to in place is another value afterwards. Rows of
`looked_operators` are in the order in which operators ended, and an operator number is a row of it.
"""

from __future__ import annotations

from gpuprof.model.table import Column, TableSchema

# positions from here on are of the tensors that sparse ones consist of
PARTS = 1000

_OPERATOR = Column("operator", "int32", "row of looked_operators", "which operator")
_VALUE = Column("value", "int32", "row of looked_values", "which value; -1: its storage is not known, or it is sparse")
_POSITION = Column(
    "position",
    "int16",
    "count",
    "which of the operator's tensors on that side, from 0; from 1000 on what sparse ones consist of: indices, values",
)
_VIEW = Column(
    "view",
    "int64",
    "hash",
    "of the tensor's offset, shape and strides: which part of the storage, and how; of a sparse one of its layout and"
    " shape, where its parts are told; else 0",
)
_SHAPE = Column("shape", "int32", "index of names", "the tensor's shape, such as [64, 784]")
_GEOMETRY = Column(
    "geometry",
    "int32",
    "index of names",
    "offset and strides in elements of its type, such as 128 (784, 1); of a sparse tensor its layout, its shape and how"
    " many entries it stores, such as sparse_coo [6000, 6000] 126000; -1: of others",
)
_ELEMENTS = Column(
    "elements", "int64", "elements", "of the tensor that was given or returned; perhaps not all of the storage's"
)

LOOKED_OPERATORS = TableSchema(
    "looked_operators",
    "one operator in the iterations of the close look, by the order in which they ended",
    (
        Column("start_ns", "int64", "ns", "when it began, Unix time"),
        Column(
            "duration_ns",
            "int64",
            "ns",
            "how long the operator alone took on the host, fingerprints left out; read as 3 × the usual at most",
        ),
        Column("name", "int32", "index of names", "its name with the overload, such as aten::sum.dim_IntList"),
        Column("iteration", "int32", "iteration of the look", "from 0; -1 where iterations are not known"),
        Column(
            "place",
            "int32",
            "row of the looked places",
            "the user's innermost line; in a backward pass the one that called backward; -1: not known",
        ),
        Column(
            "forward_place",
            "int32",
            "row of the looked places",
            "of an operator of a backward pass: the line of the forward operator that made its node; else -1",
        ),
        Column("backward", "bool", "", "whether it ran in a backward pass"),
        Column("graph", "bool", "", "whether autograd recorded a node for it"),
        Column("random", "bool", "", "whether it draws random numbers"),
        Column("writes", "bool", "", "whether it changes one of its arguments"),
        Column("scalars", "int64", "hash", "of all its arguments that are no tensors, and of where the tensors stand"),
        Column(
            "arguments",
            "int32",
            "index of names",
            "them as JSON in the schema's order, defaults filled in; null for a tensor and for a long list",
        ),
        Column("flops", "float64", "FLOP", "floating-point operations, by its shapes; NaN where there is no formula"),
        Column("look", "uint8", "look", "which of the looks at the cell saw it, from 0"),
        Column(
            "forward_operator",
            "int32",
            "row of looked_operators",
            "of an operator of a backward pass: the forward operator whose node runs; -1: not known",
        ),
        Column(
            "called_at",
            "int32",
            "row of the looked places",
            "of an operator with a node: the user's line that called the outermost module that it runs in, else its own"
            " line; -1: not known",
        ),
        Column(
            "path",
            "int32",
            "row of the looked paths",
            "the user's lines on the stack, of which `place` is the innermost; -1: not known",
        ),
        Column("node", "uint8", "NodeFate", "of an operator with a node: whether the node was freed during the look"),
        Column(
            "optimizer", "int32", "index of names", "class of the optimizer in whose step it ran, such as Adam; else -1"
        ),
        Column(
            "left_out_share",
            "float64",
            "share",
            "of an operator with a node that takes a mask or a target: of the positions of that, those that leave"
            " something out (zeros of a factor, numbers that a loss ignores), 0..1; NaN: not counted",
        ),
    ),
)

LOOKED_VALUES = TableSchema(
    "looked_values",
    "one content of one storage: made, or there when the look began; a new row each time it is written to",
    (
        Column("storage", "int64", "number", "which storage; a number is never used twice"),
        Column(
            "made_by",
            "int32",
            "row of looked_operators",
            "the operator that made it, or wrote it; -1: it was there, or is made outside of torch",
        ),
        Column(
            "gone_at",
            "int32",
            "count of operators",
            "how many operators had run when it was freed or written over; -1: it was there at the end",
        ),
        Column("bytes", "int64", "bytes", "size of the storage"),
        Column("elements", "int64", "elements", "how many elements of its type fit into the storage"),
        Column("dtype", "int32", "index of names", "type of an element, such as float32"),
        Column("shape", "int32", "index of names", "shape of the tensor by which it was seen first, such as [64, 784]"),
        Column("device", "int32", "index of names", "where it is, such as cuda:0"),
        Column(
            "fingerprint",
            "int64",
            "hash",
            "of all bytes of the storage and the type; reads of equal fingerprint and view read the same; 0: not taken",
        ),
        Column("kind", "uint8", "ValueKind", "what it is to a model or optimizer"),
        Column(
            "read_outside",
            "bool",
            "",
            "whether something other than an operator reads it (numpy, tolist, a Python number, a print), or may",
        ),
        Column(
            "zeros_share",
            "float64",
            "share",
            "of its elements those that are zero, 0..1, of an operand of a large product; by a sample where many are"
            " not, or where it is very large; of indices of an embedding those that are padding, in the batch that was"
            " read first; of a mask by which an operator selects those that are False; NaN: not counted",
        ),
        Column(
            "zero_pattern",
            "uint8",
            "ZeroPattern",
            "where the others are, in each matrix of it, by a count of all; 0: no such pattern, or not all counted",
        ),
        Column(
            "subnormals_share",
            "float64",
            "share",
            "of its numbers, of a float type on the host, those that are subnormal (in float32 below 1.2e-38, and not"
            " zero), 0..1, by a sample of 1,024, where an operator has read it; of what a line makes again and again a"
            " part is counted; NaN: not counted",
        ),
    ),
)

LOOKED_READS = TableSchema(
    "looked_reads",
    "one tensor argument of one operator",
    (
        *(_OPERATOR, _VALUE, _POSITION, _ELEMENTS, _VIEW, _SHAPE, _GEOMETRY),
        Column("grad", "bool", "", "whether autograd follows the tensor (`requires_grad`)"),
    ),
)

LOOKED_RESULTS = TableSchema(
    "looked_results",
    "one tensor that an operator returned",
    (
        *(_OPERATOR, _VALUE, _POSITION, _ELEMENTS, _VIEW, _SHAPE, _GEOMETRY),
        Column("alias", "bool", "", "whether it is an argument itself, or a view of one: nothing was made"),
    ),
)

LOOKED = (LOOKED_OPERATORS, LOOKED_VALUES, LOOKED_READS, LOOKED_RESULTS)
