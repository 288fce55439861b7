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


NAMES = """(durations) => {
    const drawn = [];
    const numbers = durations.map((_, i) => i);
    const context = { measureText: (text) => ({ width: 6 * text.length }), fillText: (text) => drawn.push(text) };
    const data = { names: durations.map((each, i) => `step ${i} · ${each} ms`), kinds: [{ key: "step" }] };
    const start = durations.map((_, i) => durations.slice(0, i).reduce((sum, each) => sum + each, 0));
    const scale = { left: 0, width: 10000, t0: 0, nsPerPixel: 1 };
    const tl = { context, data, scale, palette: { kinds: [{ ink: "" }] }, textWidths: new Map() };
    drawNames(tl, { kind: 0, start, duration: durations, name: numbers }, 0, durations.length, 0, 20, null);
    return drawn;
}"""


@pytest.mark.parametrize(
    ("durations", "expected"),
    [
        ([200, 200, 200], ["step 0 · 200 ms", "step 1 · 200 ms", "step 2 · 200 ms"]),
        ([60, 60, 300], ["step 0", "step 1", "step 2"]),
        ([24, 90, 25], ["0", "1", "2"]),
        ([60, 60, 20], ["step 0", "step 1"]),
        ([9, 9, 300], []),
    ],
)
def test_steps_are_all_named_in_one_form(module_page, durations, expected):
    assert module_page.evaluate(NAMES, durations) == expected
