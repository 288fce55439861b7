"""Mends the invalid JSON that profilers are known to write, where only one reading is possible.

Known: torch 2.13 writes any `"` in a range or file name unescaped; older ones write Windows paths with single
backslashes, raw control characters and bare NaN. Kineto's own layout is what makes this safe: the name of an event
ends its line with `", "pid": …` (`",` since torch 2.13), whatever stands in it.
"""

from __future__ import annotations

import re

import msgspec

_NAME_LINE = re.compile(
    rb"^([ \t]*(?:\"ph\": \"[^\"\n]*\", \"cat\": \"[^\"\n]*\",\s*)?\"name\": \")(?![^\n]*\", \"(?:ph|cat|s|id|bp)\": )"
    rb"([^\n]*)(\", \"pid\": [^\n]*|\",[ \t]*)$",
    re.MULTILINE,
)
_TEXT_IN_ARGS = re.compile(
    rb"(\"(?:Call stack|Module Hierarchy|Trace name|kernel|Python module id|name)\": \")([^\n]*?)"
    rb"(\"(?=, ?\"[\w .%()/]+\": |,?\s*$))",
    re.MULTILINE,
)
_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(_PAIR + rb"|\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})|\\")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_UNESCAPED_QUOTE = re.compile(rb"((?:^|[^\\])(?:\\\\)*)\"")
_BARE_NUMBER = re.compile(rb"(\":\s*)-?(?:NaN|nan|Infinity|inf)(?=\s*[,}])")
_BETWEEN_EVENTS = re.compile(rb"(?<=\n  \}),\r?\n(?=  \{\r?\n)")
_CONTROL = bytes(range(0x20)).replace(b"\n", b"")
_TO_SPACE = bytes.maketrans(_CONTROL, b" " * len(_CONTROL))


def mend(text: bytes) -> bytes:
    """The same text with names, escapes, bare NaN, control characters and broken UTF-8 put right, line by line."""
    try:
        text.decode()
    except UnicodeDecodeError:
        text = text.decode(errors="replace").encode()
    text = text.translate(_TO_SPACE)
    text = _NAME_LINE.sub(_mend_match, text)
    text = _ESCAPE.sub(_valid_escape, text)
    return _BARE_NUMBER.sub(rb"\1null", text)


def mend_events(text: bytes) -> bytes:
    """The same list of events with the text in `args` of those that are still broken put right."""
    events = _BETWEEN_EVENTS.split(text)
    return b",\n".join(event if _is_whole(event) else _TEXT_IN_ARGS.sub(_mend_match, event) for event in events)


def _is_whole(event: bytes) -> bool:
    try:
        msgspec.json.decode(event, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def _mend_match(found: re.Match[bytes]) -> bytes:
    inner = found[2]
    if b'"' not in inner and b"\\" not in inner:
        return found[0]
    return found[1] + mend_string(inner) + found[3]


def mend_string(inner: bytes) -> bytes:
    """What stands between the quotes of a JSON string, with every bare quote and backslash escaped.

    One invalid escape shows that the writer escaped none (a Windows path): then all backslashes are literal.
    """
    if any(len(escape) == 1 for escape in _ESCAPE.findall(inner)):
        inner = inner.replace(b"\\\\", b"\\").replace(b"\\", b"\\\\")
        inner = inner.replace(b'\\\\"', b'\\"')
    previous = None
    while previous != inner:
        previous, inner = inner, _UNESCAPED_QUOTE.sub(rb'\1\\"', inner)
    return inner


def has_surrogates(text: bytes) -> bool:
    """Whether some character is written as a surrogate, which is invalid without its other half."""
    return _SURROGATE.search(text) is not None


def _valid_escape(found: re.Match[bytes]) -> bytes:
    escape = found[0]
    if len(escape) == 1:
        return b"\\\\"
    return b"\\ufffd" if len(escape) == 6 and _SURROGATE.match(escape) else escape
