"""Kernels by the part of their name that tells them apart."""

import pytest

from gpuprof.views.kernel_words import short_name, short_names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("void f<float, 3>(int, float const*)", "f<float, 3>"),
        ("void ns::(anonymous namespace)::f<Op<g(int)>, 2>(Op<g(int)>)", "ns::(anonymous namespace)::f<Op<g(int)>, 2>"),
        ("ncclKernel_AllReduce(ncclWorkElem)", "ncclKernel_AllReduce"),
        ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"),
        ("volta_sgemm_64x64_nt", "volta_sgemm_64x64_nt"),
        ("unbalanced)", "unbalanced)"),
    ],
)
def test_a_kernel_loses_its_arguments(name, expected):
    assert short_name(name) == expected


def test_names_that_would_read_the_same_stay_whole():
    names = ["void f<1>(int)", "void f<1>(float)", "void f<2>(int)"]
    assert short_names(names) == ["void f<1>(int)", "void f<1>(float)", "f<2>"]
