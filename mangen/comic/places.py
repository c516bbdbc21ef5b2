"""A place in JSON data: what stands there, and an error that says where that is."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from mangen import errors

_SHOWN = 60  #: characters of a wrong value that an error repeats
_NEAR = 100  #: characters of it that are compared with what would do: it may be a whole book
_NONE = re.compile("[\0\ud800-\udfff]")  #: what is no character
_FIRST = 4  #: items of a list or object that are shown


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """An object in the data of the file `name`, at `path`."""

    name: str
    path: str
    value: Any

    def fail(self, field: str, why: str) -> NoReturn:
        """Raise UsageError for a field of this object."""
        where = ".".join(word for word in (self.path, field) if word)
        raise errors.UsageError(f"{self.name}: {f'{where}: ' if where else ''}{why}")

    def refuse(self, field: str, value: Any, why: str, known: Collection[str] = ()) -> NoReturn:
        """Raise UsageError for a value, with the nearest that would do."""
        shown = _shown(value)
        word = value if isinstance(value, str) and len(value) <= _NEAR else shown[:_NEAR]
        near = difflib.get_close_matches(word, [one for one in known if one], 1)
        mend = f"; did you mean {near[0]!r}?" if near else ""
        self.fail(field, f"{shown} {why}{mend}")

    def fields(self, *, required: Sequence[str], allowed: Sequence[str]) -> None:
        """Refuse what is no object, lacks a field or has one that means nothing."""
        if not isinstance(self.value, dict):
            self.fail("", f"must be an object with {', '.join(allowed)}")
        for field in required:
            if field not in self.value:
                self.fail(field, "is missing")
        for field in self.value:
            if not isinstance(field, str):  # data that never were a file
                self.refuse("", field, "is no name of a field")
            if field not in allowed:
                self.refuse(field, field, "is no field of it", allowed)

    def inside(self, field: str) -> Place:
        """The object in a field; an empty one where there is none."""
        return Place(self.name, f"{self.path}.{field}".lstrip("."), self.value.get(field, {}))

    def items(self, field: str, most: int, *, least: int = 0) -> list[Place]:
        """The objects of a list."""
        found = self._list(field, most)
        if len(found) < least:
            self.fail(field, f"must hold at least {least}")
        at = self.inside(field).path
        return [Place(self.name, f"{at}[{n}]", one) for n, one in enumerate(found)]

    def _list(self, field: str, most: int) -> Sequence[Any]:
        found = self.value.get(field, [])
        if not isinstance(found, (list, tuple)):  # tuples, where the data never were a file
            self.refuse(field, found, "must be a list")
        if len(found) > most:
            self.fail(field, f"holds {len(found)}; at most {most} are possible")
        return tuple(found)

    def text(
        self, field: str, longest: int, *, default: str | None = None, empty: bool = True
    ) -> str:
        """A string."""
        found = self.value.get(field, default)
        if found is None and default is not None:
            return default
        self._check_text(field, found, longest)
        if not empty and not found.strip():
            self.fail(field, "must not be empty")
        return str(found)

    def _check_text(self, field: str, found: Any, longest: int) -> None:
        if not isinstance(found, str):
            self.refuse(field, found, "must be a string")
        if len(found) > longest:
            self.fail(field, f"has {len(found)} characters; at most {longest} are possible")
        if _NONE.search(found):
            self.refuse(field, found, "holds a character that is none")

    def texts(
        self, field: str, most: int, longest: int, *, count: int | None = None
    ) -> tuple[str, ...]:
        """A list of strings; with `count` just so many, or none."""
        found = self._list(field, most)
        for n, one in enumerate(found):
            self._check_text(f"{field}[{n}]", one, longest)
        self._check_count(field, found, count)
        return tuple(found)

    def _check_count(self, field: str, found: Sequence[Any], count: int | None) -> None:
        if count is not None and len(found) not in {0, count}:
            self.fail(field, f"holds {len(found)}, but the shot shows {count} characters")

    def choice(self, field: str, words: Sequence[str], *, default: str | None = None) -> Any:
        """One of these words."""
        found = self.value.get(field, default)
        self._check_word(field, found, words)
        return found

    def choices(self, field: str, words: Sequence[str], count: int) -> tuple[str, ...]:
        """A list of these words: just so many, or none."""
        found = self._list(field, max(count, 1))
        for n, one in enumerate(found):
            self._check_word(f"{field}[{n}]", one, words)
        self._check_count(field, found, count)
        return tuple(found)

    def _check_word(self, field: str, found: Any, words: Sequence[str]) -> None:
        if found not in words:
            listed = ", ".join(word or '""' for word in words)
            self.refuse(field, found, f"is none of {listed}", words)

    def number(self, field: str, least: int, most: int, *, default: int | None = None) -> int:
        """A whole number."""
        found = self.value.get(field, default)
        if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
            self.refuse(field, found, f"must be a whole number from {least} to {most}")
        return found

    def flag(self, field: str, *, default: bool) -> bool:
        """True or false."""
        found = self.value.get(field, default)
        if not isinstance(found, bool):
            self.refuse(field, found, "must be true or false")
        return found

    def span(self, field: str, size: int) -> tuple[int, int]:
        """Where in the source it stands; (0, 0) for what a person added."""
        found = self.value.get(field, [0, 0])
        whole = isinstance(found, (list, tuple)) and all(type(one) is int for one in found)
        if not whole or len(found) != 2 or not 0 <= found[0] <= found[1] <= size:
            self.refuse(
                field, found, f"must be two offsets in the source text, which has {size} characters"
            )
        return found[0], found[1]


def _shown(value: Any) -> str:
    """The beginning of a wrong value, which may be of any size."""
    if isinstance(value, str):
        shown = repr(value[: _SHOWN + 1])
    elif isinstance(value, (list, tuple)) and len(value) > _FIRST:
        shown = repr(value[:_FIRST])[:-1] + ", …"
    elif isinstance(value, dict) and len(value) > _FIRST:
        shown = "an object"
    elif isinstance(value, int) and value.bit_length() > _SHOWN * 4:
        shown = "a number that long"
    else:
        try:
            shown = repr(value)
        except (ValueError, RecursionError):  # a number of thousands of digits, somewhere inside
            shown = "what stands there"
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
