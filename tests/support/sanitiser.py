"""What is left of an output where nothing is trusted: JupyterLab 4's allow-list, with every style taken as well."""

from __future__ import annotations

import bleach

# jupyterlab 4.6 packages/apputils/src/sanitizer.ts; code-hosting sites keep fewer, but all that the paper uses
TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup", "dd", "del",
    "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "img", "ins", "kbd", "label", "li", "mark", "meter", "ol", "p", "pre", "progress", "q", "s", "samp", "section",
    "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead",
    "time", "tr", "u", "ul", "var", "wbr",
}  # fmt: skip
ATTRIBUTES = {
    "img": ["src", "alt", "width", "height"],
    "table": ["cellpadding"],
    "th": ["scope", "colspan", "align"],
    "td": ["colspan", "align"],
    "details": ["open"],
}


def sanitised(html: str) -> str:
    """`html` without scripts, frames, drawings, styles, classes and ARIA."""
    return bleach.clean(html, tags=TAGS, attributes=ATTRIBUTES, protocols=["data", "https"], strip=True)
