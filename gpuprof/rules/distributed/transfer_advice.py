"""How to transfer less, or beside compute, by how the work is divided among ranks."""

from __future__ import annotations

from types import MappingProxyType

from gpuprof.analyses.ranks.parallelism import GroupPurpose, Parallelism
from gpuprof.model.collectives import CollectiveKind

_ASYNC = (
    "Let independent work run during the exchange: start it with `async_op=True` as soon as its input is there, and "
    "wait for it where its result is used; send fewer bytes (bf16)."
)

_ADVICE = MappingProxyType(
    {
        Parallelism.DATA: "With DDP: try `bucket_cap_mb` larger where kernels are many and short, smaller where one "
        "comes last; `gradient_as_bucket_view=True`; `with model.no_sync():` for all but the last micro-batch; "
        "`bf16_compress_hook` (`model.register_comm_hook`) halves the bytes.",
        Parallelism.SHARDED: "With FSDP: prefetch the next layer (`set_modules_to_forward_prefetch`), and keep "
        "parameters gathered between forward and backward where memory allows (`reshard_after_forward=False`).",
        Parallelism.TENSOR: "Tensor parallelism reduces in every layer: keep its group on GPUs with NVLink between "
        "them, make it smaller and divide the batch or the layers instead, and use sequence parallelism "
        "(`SequenceParallel` of `torch.distributed.tensor.parallel`).",
        Parallelism.PIPELINE: "Use more micro-batches per step, a schedule with less idle time "
        "(`ScheduleInterleaved1F1B` of `torch.distributed.pipelining`), and stages that take equally long.",
        Parallelism.EXPERT: "The all-to-all moves tokens to their experts: keep expert groups within a node, send bf16 "
        "or fp8, limit the capacity per expert, and run layers that all tokens share during the exchange.",
        Parallelism.EMBEDDING: "The all-to-all moves embeddings: send fp16 or bf16, and distribute the tables so that "
        "every rank sends about as much. If the next batch’s indices are not exchanged during this one yet, do that "
        "(`TrainPipelineSparseDist` of TorchRec).",
        Parallelism.UNKNOWN: _ASYNC,
    }
)

# Where nothing tells the purpose: what most often exchanges so. The advice names the library that it is for.
_USUAL = MappingProxyType(
    {
        CollectiveKind.ALL_REDUCE: Parallelism.DATA,
        CollectiveKind.ALL_GATHER: Parallelism.SHARDED,
        CollectiveKind.REDUCE_SCATTER: Parallelism.SHARDED,
    }
)


def transfer_advice(main: GroupPurpose | None) -> str:
    """For the exchanges that most of the time goes to; None: nothing is known of them."""
    if main is None:
        return _ASYNC
    usual = _USUAL.get(main.kind, Parallelism.UNKNOWN)
    return _ADVICE[usual if main.parallelism is Parallelism.UNKNOWN else main.parallelism]
