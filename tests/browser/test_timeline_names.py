"""Names on the timeline: short forms that fit, and the same words as in the tables."""

from __future__ import annotations

import pytest

from gpuprof.views.kernel_words import short_name

pytestmark = pytest.mark.browser

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
# every letter is six pixels wide
FIT = """([name, room]) => fitName(
    { textWidths: new Map(), context: { measureText: (text) => ({ width: 6 * text.length }) } }, name, room)"""


@pytest.mark.parametrize(
    ("name", "letters", "expected"),
    [
        ("step 16 · 159 ms", 16, "step 16 · 159 ms"),
        ("step 16 · 159 ms", 12, "step 16"),
        ("step 16 · 159 ms", 4, "16"),
        ("step 16 · 159 ms", 1, ""),
        (LOADER, 20, "DataLoader.__next__"),
        (LOADER, 11, "DataLoader"),
        (LOADER, 6, ""),
        ("void cudnn::dgrad<float, 512>(int, float*)", 30, "cudnn::dgrad<float, 512>"),
        ("aten::convolution", 12, "convolution"),
        ("aten::convolution", 9, "convolu…"),
        ("aten::convolution", 6, ""),
    ],
)
def test_a_name_is_shortened_before_it_is_cut_and_dropped_before_it_says_nothing(module_page, name, letters, expected):
    assert module_page.evaluate(FIT, [name, 6 * letters]) == expected


@pytest.mark.parametrize(
    "name",
    [
        "void f<float, 3>(int, float const*)",
        "void ns::(anonymous namespace)::f<Op<g(int)>, 2>(Op<g(int)>)",
        "ncclKernel_AllReduce(ncclWorkElem)",
        "Memcpy DtoD (Device -> Device)",
        "volta_sgemm_64x64_nt",
        "unbalanced)",
    ],
)
def test_a_kernel_is_called_the_same_in_tables_and_on_the_timeline(module_page, name):
    assert module_page.evaluate("name => shortName(name)", name) == short_name(name)
