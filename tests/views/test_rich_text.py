"""Sentences become HTML without becoming markup."""

from gpuprof.views.rich_text import rich_text


def test_backticks_become_code_and_nothing_else_becomes_markup():
    assert str(rich_text("use `a < b` & <b>not</b> this")) == (
        "use <code>a &lt; b</code> &amp; &lt;b&gt;not&lt;/b&gt; this"
    )


def test_a_lone_backtick_stays():
    assert str(rich_text("it`s 5 ms")) == "it`s 5\u00a0ms"
