"""Plain sentences as HTML: escaped, code in backticks set as code, numbers kept with their units."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from gpuprof.units import unbroken

_CODE = re.compile(r"`([^`\n]+)`")


def rich_text(text: str) -> Markup:
    """`text` as HTML. The only markup it can bring in are `code` elements."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(unbroken(text)))))
