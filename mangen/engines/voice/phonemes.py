"""Phonemes of mixed Chinese and English, in Kokoro's alphabet."""

from __future__ import annotations

import functools
import logging
import os
import re
import warnings
from typing import Any

from mangen.engines.voice import runtime, spoken

#: phonemes in one run of the model: it takes 510, at about 0.8 MB of memory each
LIMIT = 200
_RUN = re.compile(r"[㐀-鿿]+|[^㐀-鿿]+")
_MARKS = str.maketrans(
    {"，": ", ", "。": ". ", "！": "! ", "？": "? ", "；": "; ", "：": ": ", ",": ", "}
)
_CUTS = (r"(?<=[.!?]) ", r"(?<=[,;:]) ", r" ")  #: where a long string may be cut, best first


class Phonemes:
    """Grapheme to phoneme. Takes about 1 s to make (dictionaries), then is quick; writes nothing.

    Chinese words come from jieba, their phonemes from misaki's Chinese part; everything between
    ideographs is English, by hibari.
    """

    def __init__(self, *, british: bool = False) -> None:
        with warnings.catch_warnings():
            # old packages: invalid escapes, seen where nothing compiled them at installation
            warnings.simplefilter("ignore")
            import jieba  # noqa: PLC0415 - half a second and 60 MB, for a voice only
            from misaki import zh  # noqa: PLC0415 - as above
        jieba.setLogLevel(logging.CRITICAL + 1)
        if not jieba.dt.initialized:
            # its cache in the shared temporary folder could be anyone's: neither read nor written
            jieba.dt.tmp_dir = os.devnull
            jieba.dt.initialize()
        self._words: Any = jieba.lcut
        self._zh: Any = zh.ZHG2P.word2ipa
        self._british = british

    def of(self, text: str, language: spoken.Language = "zh") -> str:
        """The phonemes of a line as written; empty where there is nothing to say."""
        said = spoken.spoken(text, language)
        runs = (
            self._chinese(run) if "㐀" <= run[0] <= "鿿" else self._english(run)
            for run in _RUN.findall(said)
        )
        joined = re.sub(r"\s+([,.!?;:])", r"\1", " ".join(run for run in runs if run))
        return re.sub(r"\s+", " ", joined).strip()

    def _chinese(self, run: str) -> str:
        return " ".join(self._word(word) for word in self._words(run)).replace("\u032f", "")

    def _word(self, word: str) -> str:
        try:
            return str(self._zh(word))
        except ValueError:  # a character without a reading: the others are still said
            return "".join(self._word(ch) for ch in word) if len(word) > 1 else ""

    def _english(self, run: str) -> str:
        plain = run.translate(_MARKS).strip()
        if not any(ch.isalnum() for ch in plain):
            return plain
        if plain.upper() == "A":
            return "ˈA"  # the letter, not the article: A四, A股
        return str(self._en(plain))

    @functools.cached_property
    def _en(self) -> Any:
        runtime.onnx()  # hibari imports it for words it does not know
        from hibari import g2p  # noqa: PLC0415 - 80 MB of lexicon, for texts with English only

        return g2p.G2P(british=self._british)


def pieces(phonemes: str, limit: int = LIMIT) -> list[str]:
    """Cut a long string into pieces of at most `limit`, where sentences end if they do."""
    if len(phonemes) <= limit:
        return [phonemes] if phonemes else []
    for cut in _CUTS:
        parts = re.split(cut, phonemes)
        if len(parts) > 1:
            packed: list[str] = []
            for part in (fine for coarse in parts for fine in pieces(coarse, limit)):
                if packed and len(packed[-1]) + 1 + len(part) <= limit:
                    packed[-1] += " " + part
                else:
                    packed.append(part)
            return packed
    return [phonemes[i : i + limit] for i in range(0, len(phonemes), limit)]
