# SPDX-License-Identifier: BSD-3-Clause
"""Arguments as the extension takes them; or an error that names the argument, its value and the rule that it broke."""

from __future__ import annotations

import operator
import sys
from typing import Any, Callable, TypeVar

Kind = TypeVar("Kind")
INT_MAX, SIZE_MAX = 2**31 - 1, 2**64 - 1


def number(name: str, value: Any) -> float:
    try:
        if not isinstance(value, (str, bytes, bytearray)):  # which float would read
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{name} = {value!r} must be a number")


def integer(name: str, value: Any, most: int = 2**63 - 1, rule: str = "an integer") -> int:
    try:
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r} must be {rule}") from None
    if result < 0:
        raise ValueError(f"{name} = {result} must be at least 0")
    if result > most:
        raise ValueError(f"{name} = {result} must be at most {most}")
    return result


def optional_integer(name: str, value: Any, most: int) -> int | None:
    return None if value is None else integer(name, value, most, "an integer or None")


def switch(name: str, value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.bool_):
        value = bool(value)
    return of_type(name, value, bool, "True or False")


def word(name: str, value: Any) -> str:
    return of_type(name, value, str, "a string")


def of_type(name: str, value: Any, kind: type[Kind] | tuple[type[Kind], ...], rule: str) -> Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{name} = {value!r} must be {rule}")
    return value


def optional(name: str, value: Any, kind: type[Kind]) -> Kind | None:
    return None if value is None else of_type(name, value, kind, f"a heptad.{kind.__name__} or None")


def element_type(value: Any) -> str:
    """What numpy.dtype takes for float64 or float32."""
    if isinstance(value, str) and value in ("float64", "float32"):
        return value
    import numpy

    try:
        found = numpy.dtype(value)
    except (TypeError, ValueError):
        raise TypeError(f"dtype = {value!r} must be float32 or float64") from None
    if found not in (numpy.float64, numpy.float32):  # nor of another byte order
        raise TypeError(f"dtype = {found} must be float32 or float64")
    return found.name


WISHES: dict[str, Callable[[str, Any], Any]] = {
    "max_error": number,
    "guaranteed": switch,
    "max_workspace": lambda name, value: optional_integer(name, value, SIZE_MAX),
    "max_levels": lambda name, value: optional_integer(name, value, INT_MAX),
    "force_levels": lambda name, value: optional_integer(name, value, INT_MAX),
    "algorithm": word,
    "deterministic": switch,
    "scheduler": word,
    "kernel": word,
    "scaling": word,
    "check": lambda name, value: integer(name, value, INT_MAX),
    "refine": switch,
}


def wishes(given: dict[str, Any]) -> dict[str, Any]:
    for name, value in given.items():
        if name not in WISHES:
            raise TypeError(f"{name} = {value!r} is not a wish: these are {', '.join(WISHES)}")
    return {name: WISHES[name](name, value) for name, value in given.items()}
