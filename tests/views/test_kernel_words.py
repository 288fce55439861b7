"""Kernels by the part of their name that tells them apart."""

import pytest

from gpuprof.views.kernel_words import brief_names, short_name


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
    assert brief_names(names) == ["void f<1>(int)", "void f<1>(float)", "f<2>"]


def test_torch_s_own_namespaces_are_left_out():
    name = "void at::native::(anonymous namespace)::f<at::native::Add<float>, at::detail::Array<char*, 3> >(int)"
    assert brief_names([name]) == ["f<Add<float>, Array<char*, 3> >"]
