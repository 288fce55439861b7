"""What a group of ranks is for."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.parallelism import Parallelism, ParallelismOfRank
from gpuprof.analyses.ranks.process_group import ProcessGroup, group_of
from gpuprof.model.trace import Trace
from tests.support.shared import shared_file
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: AddmmBackward0"


def main(builder: TraceBuilder) -> Parallelism:
    found = Results(builder.build()).get(ParallelismOfRank).main
    assert found is not None
    return found.parallelism


@pytest.mark.parametrize(
    ("description", "kind", "expected"),
    [
        ("mesh_tp", "AllReduce", Parallelism.TENSOR),
        ("TENSOR_MODEL_PARALLEL_GROUP", "AllReduce", Parallelism.TENSOR),
        ("mesh_dp_shard", "AllGather", Parallelism.SHARDED),
        ("mesh_fsdp", "ReduceScatter", Parallelism.SHARDED),
        ("DATA_PARALLEL_GROUP", "AllReduce", Parallelism.DATA),
        ("PIPELINE_MODEL_PARALLEL_GROUP", "Broadcast", Parallelism.PIPELINE),
        ("EXPERT_DATA_PARALLEL_GROUP", "AllReduce", Parallelism.DATA),
        ("mesh_dp_shard_cp", "AllGather", Parallelism.SHARDED),
        ("pp", "Broadcast", Parallelism.PIPELINE),
        ("pp", "SendRecv", Parallelism.PIPELINE),
        ("EXPERT_MODEL_PARALLEL_GROUP", "AllToAll", Parallelism.EXPERT),
        ("anything", "AllToAll", Parallelism.EXPERT),
        ("anything", "AllReduce", Parallelism.UNKNOWN),
        ("anything", "AllGather", Parallelism.UNKNOWN),
        ("anything", "Broadcast", Parallelism.UNKNOWN),
    ],
)
def test_by_the_description_and_the_kind(description: str, kind: str, expected: Parallelism) -> None:
    assert main(TraceBuilder().collective(kind, 0, 10, group="1", group_description=description)) is expected


def test_embedding_tables_are_no_experts() -> None:
    assert (
        main(TraceBuilder().operator("aten::embedding_bag", 0, 5).collective("AllToAll", 5, 9)) is Parallelism.EMBEDDING
    )


def test_sharded_parameters_are_gathered_in_training() -> None:
    assert main(TraceBuilder().operator(NODE, 0, 5).collective("AllGather", 5, 9)) is Parallelism.SHARDED
    assert main(TraceBuilder().span("FSDP::all_gather", 0, 5).collective("AllGather", 5, 9)) is Parallelism.SHARDED


def test_four_of_five_reduced_in_backward_are_gradients() -> None:
    for inside, expected in ((4, Parallelism.DATA), (3, Parallelism.TENSOR)):
        builder = TraceBuilder().operator(NODE, 0, 10 * inside)
        for place in range(5):
            builder.operator("c10d::allreduce_", 10 * place, 5)
        assert main(builder.collective("AllReduce", 90, 9)) is expected


def test_gradients_are_reduced_in_backward() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 5).operator(NODE, 10, 30).operator("c10d::allreduce_", 15, 5)
    assert main(builder.collective("AllReduce", 50, 9)) is Parallelism.DATA


def test_parts_of_layers_are_reduced_in_both_passes() -> None:
    builder = TraceBuilder().operator("c10d::allreduce_", 0, 5).operator(NODE, 10, 30)
    assert main(builder.operator("c10d::allreduce_", 15, 5).collective("AllReduce", 50, 9)) is Parallelism.TENSOR


def test_without_a_backward_pass_parts_of_layers_are_reduced() -> None:
    builder = TraceBuilder().operator("c10d::allreduce_", 0, 5).collective("AllReduce", 50, 9)
    assert main(builder) is Parallelism.TENSOR


def test_ddp_says_so() -> None:
    builder = TraceBuilder().span("DistributedDataParallel.forward", 0, 5).collective("AllReduce", 50, 9)
    assert main(builder) is Parallelism.DATA


def test_nothing_is_exchanged(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(ParallelismOfRank).main is None


@pytest.mark.recordings
@pytest.mark.parametrize(
    ("name", "expected"),
    [("v100-alltoall-exposed", Parallelism.EMBEDDING), ("a100-ddp-host-bound", Parallelism.DATA)],
)
def test_recorded_single_ranks(name: str, expected: Parallelism) -> None:
    from gpuprof.ingest.load import load_trace

    found = Results(load_trace(shared_file(f"expert/{name}.json.gz"))).get(ParallelismOfRank)
    assert found.main is not None and found.main.parallelism is expected


@pytest.mark.parametrize(
    ("listed", "size", "ranks"),
    [("[0, 1]", 2, (0, 1)), ("[0, 1, ...]", 64, None), ("[0, 1]", 64, None), ("", 2, None), ("[]", 2, None)],
    ids=["whole", "cut short", "fewer than it has", "none", "empty"],
)
def test_ranks_count_only_where_all_are_listed(listed: str, size: int, ranks: tuple[int, ...] | None) -> None:
    builder = TraceBuilder().exchange("allreduce", 0, 5, group="7", group_ranks=listed, group_size=size)
    assert group_of(builder.build(), 0) == ProcessGroup("7", "", ranks, size)


@pytest.mark.parametrize(
    ("group", "label"),
    [
        (ProcessGroup(), "all ranks"),
        (ProcessGroup("0", "default_pg", (0, 1), 2), "all ranks"),
        (ProcessGroup("7", "mesh_tp", (0, 1), 2), "mesh_tp [0, 1]"),
        (ProcessGroup("7", "undefined", None, 64), "group 7"),
        (ProcessGroup("7", "dp", tuple(range(64)), 64), "dp"),
    ],
)
def test_label_of_a_group(group: ProcessGroup, label: str) -> None:
    assert group.label == label
