"""What names say of collectives."""

from __future__ import annotations

import pytest

from gpuprof.model.collectives import CollectiveKind, buffer_elements, bus_factor, element_bytes, kind_of

K = CollectiveKind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", K.ALL_REDUCE),
        ("ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclWorkElem)", K.REDUCE_SCATTER),
        ("ncclKernel_Reduce_RING_LL_Sum_float", K.REDUCE),
        ("_allgather_base", K.ALL_GATHER),
        ("nccl:all_to_all", K.ALL_TO_ALL),
        ("all_to_allv", K.ALL_TO_ALL),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", K.SEND_RECV),
        ("nccl:recv 0<-1", K.SEND_RECV),
        ("gloo:broadcast", K.BROADCAST),
        ("gather", K.GATHER),
        ("scatter", K.SCATTER),
        ("barrier", K.BARRIER),
        ("ncclDevKernel_Generic(args)", K.OTHER),
    ],
)
def test_kind(name: str, kind: CollectiveKind) -> None:
    assert kind_of(name) is kind


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Float", 4),
        ("c10::BFloat16", 2),
        ("long int", 8),
        ("Float8_e4m3fn", 1),
        ("signed char", 1),
        ("Quaternion", None),
    ],
)
def test_bytes_of_an_element(name: str, size: int | None) -> None:
    assert element_bytes(name) == size


def test_what_waits_for_the_last_rank() -> None:
    assert K.ALL_REDUCE.meets and K.ALL_TO_ALL.meets
    assert not K.BROADCAST.meets and not K.GATHER.meets


@pytest.mark.parametrize(
    ("kind", "ins", "outs", "whole"),
    [
        (K.ALL_REDUCE, 100, 100, 100),
        (K.ALL_GATHER, 100, 400, 400),
        (K.ALL_GATHER, 100, -1, 400),
        (K.REDUCE_SCATTER, 400, 100, 400),
        (K.REDUCE_SCATTER, -1, 100, -1),
        (K.BROADCAST, -1, 100, 100),
        (K.ALL_GATHER, -1, -1, -1),
    ],
)
def test_buffer_of_four_ranks(kind: CollectiveKind, ins: int, outs: int, whole: int) -> None:
    assert buffer_elements(kind, ins, outs, 4) == whole


def test_bytes_over_the_bus() -> None:
    """The table at the end of the performance page of NCCL's tests."""
    assert bus_factor(K.ALL_REDUCE, 8) == 1.75
    assert bus_factor(K.ALL_GATHER, 8) == bus_factor(K.REDUCE_SCATTER, 8) == bus_factor(K.ALL_TO_ALL, 8) == 0.875
    assert bus_factor(K.BROADCAST, 8) == bus_factor(K.REDUCE, 8) == bus_factor(K.SEND_RECV, 2) == 1
    assert bus_factor(K.BARRIER, 8) is None and bus_factor(K.ALL_REDUCE, 1) is None
