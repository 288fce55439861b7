"""A kernel's name as people read it. `timeline/js/text.js` does the same in the browser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gpuprof.model.kernel_names import short_name as short_name

_NAMESPACES = re.compile(r"\b(?:at|c10)::(?:native::|detail::)?|\(anonymous namespace\)::")


def brief_names(names: Sequence[str]) -> list[str]:
    """The short name of each without torch's namespaces, but the whole name where two would read the same."""
    short = [_NAMESPACES.sub("", short_name(name)) for name in names]
    found = Counter(short)
    return [name if found[words] > 1 else words for name, words in zip(names, short, strict=True)]
