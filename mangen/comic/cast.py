"""Who is in a text, by the evidence of the whole of it."""

from __future__ import annotations

from collections.abc import Sequence

from mangen.comic import cast_chinese, cast_english, people


def find(
    narration: Sequence[str], speech: Sequence[str], text: str, language: people.Language
) -> people.Cast:
    """The people of a text.

    `narration[i]` is the narration of paragraph i with each quotation as an empty pair of marks
    (“”), `speech` all quotations.
    """
    if language == "en":
        found = cast_english.find(narration, text)
    else:
        found = cast_chinese.find(narration, speech, text)
    return people.with_pronouns(found, narration)
