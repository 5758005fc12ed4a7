"""Choosing parameters by name, index or predicate."""

from __future__ import annotations

import re
from typing import Any, Callable, Optional, Union

Selector = Union[None, bool, str, int, list, tuple, Callable[[str], bool]]


def make_predicate(selector: Selector) -> Callable[[str, Optional[int]], bool]:
    """A test of a name and of the index of the argument it belongs to.

    A string is a regular expression searched in the name, a number the index of
    a positional argument; lists hold any of them.
    """
    if selector is None or selector is False:
        return lambda name, index: False
    if selector is True:
        return lambda name, index: True
    if callable(selector):
        return lambda name, index: bool(selector(name))
    if isinstance(selector, str):
        pattern = re.compile(selector)
        return lambda name, index: pattern.search(name) is not None
    if isinstance(selector, int):
        return lambda name, index: index == selector
    if isinstance(selector, (list, tuple)):
        parts = [make_predicate(item) for item in selector]
        return lambda name, index: any(part(name, index) for part in parts)
    raise TypeError(
        "expects a regular expression, an index, a list of them or a function, "
        f"got {selector!r}"
    )


def quote(text: Any) -> str:
    """A string literal of MLIR."""
    out = []
    for byte in str(text).encode():
        char = chr(byte)
        if char in '"\\' or byte < 0x20 or byte > 0x7E:
            out.append(f"\\{byte:02X}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def param_attribute(name: str, trainable: bool) -> str:
    kind = "trainable" if trainable else "frozen"
    return f"#es.param<{kind} {quote(name)}>"
