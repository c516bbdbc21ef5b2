"""From a storyboard's labels and words to what a model is told.

Important things first: who is there and what they do, then the story's own words, then where and
when, the camera, the style last. Models whose text encoder knows English alone get English: Chinese
words are read by the wordbook, and what it doesn't know is told in the notes, never sent. Models
that know both get the language of the text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mangen import errors
from mangen.engines import protocol
from mangen.engines.diffusion import checkpoint, configs, registry, wordbook

#: classes of text encoders that read Chinese as well as English
_BOTH = re.compile("Qwen|U?MT5|GLM|Glm|Mistral|Gemma")
#: characters of a story's own words that stand before the scene; what is longer follows at the end,
#: where an encoder that has no room for all of it leaves it out and counts it
_BEFORE = 600
_NOTED = 20  #: unknown words that are told one by one
Tongue: TypeAlias = wordbook.Tongue
#: requests that show a shot
Shown: TypeAlias = protocol.PanelRequest | protocol.ClipRequest | protocol.RepaintRequest
_PLACES = {
    "en": {2: ("on the left", "on the right"), 3: ("on the left", "in the middle", "on the right")},
    "zh": {2: ("左边", "右边"), 3: ("左边", "中间", "右边")},
}
_COUNTS = {
    "en": {1: "", 2: "two people", 3: "three people"},
    "zh": {1: "", 2: "两个人", 3: "三个人"},
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """What a model is told to draw, and what not. `notes` are JSON on what could not be told."""

    text: str
    negative: str
    notes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def both(model: registry.Model) -> bool:
    """Whether a model reads Chinese as well as English: its text encoders tell."""
    parts = configs.read(model.folder, checkpoint.INDEX)
    kinds = [str(kind) for name, kind in parts.items() if name.startswith("text_encoder")]
    return any(_BOTH.search(kind) for kind in kinds)


def _tongue(request: protocol.Request, *, both: bool) -> Tongue:
    """The language that a model is told this request in."""
    if not both or isinstance(request, protocol.EncodeRequest):
        return "en"
    if isinstance(request, protocol.AnchorRequest):
        said = [request.sheet.name, *request.sheet.words]
    else:
        said = [request.prompt, *(one.sheet.name for one in request.figures)]
        said += [word for one in request.figures for word in one.sheet.words]
    return "zh" if any(map(wordbook.is_chinese, said)) else "en"


def anchor(request: protocol.AnchorRequest, *, both: bool) -> Prompt:
    """A character alone, from head to foot, on nothing."""
    writer = _Writer(_tongue(request, both=both), named=both)
    figure = protocol.Figure(sheet=request.sheet)
    writer.say(writer.label("style", "anchor"))
    writer.say(writer.figure(figure, request.sheet.era))
    writer.say(writer.label("style", "plain"))
    writer.say(writer.label("style", "all"))
    return writer.prompt(also="alone")


def shot(request: Shown, *, both: bool) -> Prompt:
    """A shot; raises EngineError where nothing is said about it, and no picture shows it yet."""
    writer = _Writer(_tongue(request, both=both), named=both)
    scene, figures = request.scene, request.figures
    blank = scene == protocol.SceneLabels() and not isinstance(request, protocol.ClipRequest)
    if not request.prompt.strip() and not figures and blank:
        raise errors.EngineError(
            "a shot without a prompt, without anybody in it and without a scene can't be drawn by "
            "a model: give it a prompt, by `manage.py retake` or in its storyboard"
        )
    era = scene.era or next((one.sheet.era for one in figures), "")
    names, tail = [one.sheet.name for one in figures], ""
    told = request.prompt
    if figures or not blank:  # else it is better than nothing
        told = _unspoken(told)
    repaints = isinstance(request, protocol.RepaintRequest)
    if repaints:  # what is to be seen in a part of it
        tail = writer.own(told, names)
    if scene.framing == "insert" and scene.focus:
        writer.say(writer.thing(scene.focus))
    else:
        writer.people(figures, era)
    if not repaints:
        tail = writer.own(told, names)
    if not writer.said and blank:
        raise errors.EngineError(
            f"nothing of the prompt is known in English ({'、'.join(writer.left)}), which is all "
            "that the model reads: write the prompt in English"
        )
    if isinstance(request, protocol.ClipRequest):
        writer.say(writer.label("motion", request.motion))
    writer.scene(scene, era)
    if isinstance(request, protocol.PanelRequest) and request.memory:
        writer.say(writer.label("style", "memory"))
    writer.say(writer.label("style", "all"))
    writer.say(tail)
    return writer.prompt()


def backdrop(request: protocol.PanelRequest, *, both: bool) -> Prompt:
    """The scene of a shot, empty: the same for all shots of one place and hour."""
    writer = _Writer(_tongue(request, both=both), named=False)
    writer.place(request.scene)
    writer.say(writer.label("era", request.scene.era))
    writer.say(writer.label("style", "all"))
    return writer.prompt(also="nobody")


def detail(request: protocol.UpscaleRequest, *, both: bool) -> Prompt:
    """A part of a shot in finer detail: its place and light, and nobody, who need not be in it."""
    writer = _Writer(_tongue(request, both=both), named=False)
    writer.say(writer.label("style", "fine"))
    writer.place(request.scene)
    writer.say(writer.label("style", "all"))
    return writer.prompt()


def around(request: protocol.OutpaintRequest, *, both: bool) -> Prompt:
    """What lies around a shot: its place goes on, and its people are in the middle already."""
    writer = _Writer(_tongue(request, both=both), named=False)
    writer.say(writer.label("style", "around"))
    writer.place(request.scene)
    era = request.scene.era or next((one.sheet.era for one in request.figures), "")
    writer.say(writer.label("era", era))
    writer.say(writer.label("style", "all"))
    return writer.prompt(also="nobody")


class _Writer:
    """One prompt on its way, in one language."""

    def __init__(self, tongue: Tongue, *, named: bool) -> None:
        """`named`: the encoder may be told names, which mean nothing to CLIP."""
        self._tongue, self._named = tongue, named
        self.said: list[str] = []
        self.left: list[str] = []

    def say(self, words: str) -> None:
        if words:
            self.said.append(words)

    def label(self, section: str, name: str) -> str:
        return wordbook.label(section, name, self._tongue)

    def prompt(self, also: str = "") -> Prompt:
        against = [self.label("style", name) for name in ("against", also) if name]
        left = list(dict.fromkeys(self.left))
        notes: dict[str, Any] = {}
        if left:
            notes["untranslated"] = left[:_NOTED]
            notes["untranslated_words"] = len(left)
        join = self._join()
        return Prompt(text=join.join(self.said), negative=join.join(against), notes=notes)

    def people(self, figures: Sequence[protocol.Figure], era: str) -> None:
        """Everybody, left to right."""
        places = _PLACES[self._tongue].get(len(figures), ())
        self.say(_COUNTS[self._tongue].get(len(figures), ""))
        for number, one in enumerate(figures):
            place = places[number] if places else ""
            gap = " " if self._tongue == "en" else "："
            self.say(f"{place}{gap if place else ''}{self.figure(one, era)}")

    def figure(self, one: protocol.Figure, era: str) -> str:
        """Who it is, what it wears, how it looks, what it does and holds."""
        sheet = one.sheet
        said = [self.label("who", f"{sheet.sex} {one.age or sheet.age}")]
        called = self._called(sheet.name)
        if called:
            said.insert(0, called)
        clothed = False
        for words in sheet.words:
            read = wordbook.english(words)
            clothed = clothed or read.clothed or _WORN.search(words.lower()) is not None
            if self._tongue == "zh" or not wordbook.is_chinese(words):
                said.append(words)
                continue
            said += read.words
            self.left += read.left
        if not clothed:
            said.append(self.label("clothes", sheet.era or era))
        said.append(self.label("emotion", one.emotion))
        said.append(self.label("gesture", one.gesture or ("speak" if one.speaking else "")))
        if one.held:
            holding = "holding {}" if self._tongue == "en" else "手拿{}"
            said.append(holding.format(self.thing(one.held)))
        return self._join().join(filter(None, said))

    def thing(self, words: str) -> str:
        """A thing as a request names it, after its colour where it has one: `black umbrella`."""
        tone, _, thing = words.rpartition(" ")
        name = self.label("thing", thing) or thing
        colour = self.label("colour", tone) or tone
        if self._tongue == "zh":
            return f"{colour}的{name}" if colour else name
        return f"{colour} {name}" if colour else name

    def scene(self, scene: protocol.SceneLabels, era: str) -> None:
        """Where and when, what is there, who else; then the camera."""
        self.place(scene)
        for thing in map(self.thing, scene.objects):
            self.say("" if self._is_said(thing) else thing)
        self.say(self.label("crowd", "some") if scene.crowd else "")
        self.say(self.label("era", era))
        self.say(self.label("framing", scene.framing))

    def place(self, scene: protocol.SceneLabels) -> None:
        for section in ("place", "time", "weather", "mood"):
            words = self.label(section, getattr(scene, section))
            self.say("" if words and self._is_said(words) else words)

    def own(self, text: str, names: Sequence[str]) -> str:
        """Say the story's own words, as far as they are known; answers what is too long by now.

        Names say nothing in another language, and parts of them could be taken for words.
        """
        text = " ".join(text.split()).strip(_MARKS)
        if self._tongue == "en" and wordbook.is_chinese(text):
            for name in sorted(filter(wordbook.is_chinese, names), key=len, reverse=True):
                text = text.replace(name, "，")
            read = wordbook.english(text)
            self.left += read.left
            latin = re.sub(r"[^\x00-\u024f]+", " ", text).strip(" ,.;:!?-")
            words = [latin, *(word for word in read.words if not self._is_said(word))]
            text = self._join().join(filter(None, words))
        head, tail = _parted(text)
        self.say(head)
        return tail

    def _is_said(self, words: str) -> bool:
        """Whether the same was said already, of whom it is or with its colour."""
        said = self._join().join(self.said)
        if self._tongue == "zh":
            return words in said
        return re.search(rf"\b{re.escape(words)}\b", said) is not None

    def _called(self, name: str) -> str:
        """A name where it says something: to whom may be told names, or what somebody is."""
        if self._named and name.strip() and wordbook.is_chinese(name) == (self._tongue == "zh"):
            return name
        if self._tongue == "zh":
            return ""
        # English roles are written small, as in a text: first constable
        return name if name.isascii() and name.islower() else wordbook.office(name)

    def _join(self) -> str:
        return ", " if self._tongue == "en" else "，"


def _unspoken(text: str) -> str:
    """A text without what is said aloud in it, which can't be seen: a model would only write it.

    What is written on something, a sign or a letter, stands in quotation marks too, and stays: it
    seldom ends as a sentence does.
    """
    return _SPOKEN.sub(" ", text)


def _parted(text: str) -> tuple[str, str]:
    """What stands before the scene, and what is longer than that."""
    if len(text) <= _BEFORE:
        return text, ""
    ends = [match.end() for match in re.finditer(r"[.!?;,。！？；，]\s*", text[:_BEFORE])]
    cut = ends[-1] if ends else _BEFORE
    return text[:cut].strip(_MARKS), text[cut:]


_MARKS = " ,.;:!?，。；：！？、—…“”\"'「」『』"
_SPOKEN = re.compile('[“「『"][^“”「」『』"]*[。！？…!?.,，—]\\s*[”」』"]')
_WORN = re.compile(
    r"\b(?:coat|dress|shirt|robes?|suit|gown|jacket|skirt|uniform|clothes|cloak|hanfu|sweater|"
    r"trousers|jeans|armou?r|vest|waistcoat|apron|blouse|tunic|hoodie|kimono|qipao|cardigan)\b"
)
