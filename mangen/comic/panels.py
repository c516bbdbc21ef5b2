"""The pictures of a shot as jobs: anchors, the panel and what is done to it, and the clip. Pure.

A panel goes through a chain: illustrate, repaint, outpaint, upscale. All but the first are optional
and needed softly: where one fails, who comes after takes the last panel that was made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mangen.comic import cards, keys, lettering, look, model, requests
from mangen.engines import protocol
from mangen.ledger import jobs

#: the links of the chain that may follow a panel, in their order
LINKS = ("repaint", "outpaint", "upscale")
MARGIN = 0.125  #: of each side, all around: what a camera over a panel moves in
ROOM = 1 + 2 * MARGIN
ANCHOR_SIZE = (512, 768)  #: of what is drawn by rule
HIGH, MID = 0, 1
#: places where no weather falls between the camera and the people
INDOORS = frozenset(
    {"room", "hall", "shop", "classroom", "office", "hospital", "train", "spaceship"}
)
#: seconds that a job of a model is thought to take at 720x1280 until one was seen: a final
_SECONDS = {
    "anchor": 8.0, "illustrate": 12.0, "repaint": 12.0, "outpaint": 12.0, "upscale": 30.0,
    "encode": 1.0, "animate": 120.0,
}  # fmt: skip
_PREVIEW = 0.25  #: of that


class Panels:
    """The pictures of one call of `graph.wanted`."""

    def __init__(self, cast: Mapping[str, model.Character], chosen: look.Look) -> None:
        """`cast` are the characters with a sheet, by name."""
        self._cast, self._look = cast, chosen
        self._size = {"width": chosen.width, "height": chosen.height}
        # buckets and peaks depend on sizes alone; these bytes are never touched
        self._panel = protocol.Panel(
            image=np.empty((chosen.height * 5 // 4, chosen.width * 5 // 4, 3), np.uint8)
        )

    def names(self, shot: model.Shot) -> list[str]:
        """Who is in a shot and has a sheet."""
        return [name for name in shot.characters if name in self._cast]

    def anchors_of(self, shot: model.Shot) -> dict[str, str]:
        """The subject of the anchor of each who is in a shot, by name; none where none is made."""
        quality = self._look.quality_of(shot)
        if self._look.spec("anchor", quality) is None:
            return {}
        engine = self._look.maker(quality)
        other = "" if engine is self._look.own else f"@{engine.name}"
        return {name: f"c/{name}{other}" for name in self.names(shot)}

    def anchor(self, name: str, subject: str, quality: model.Quality) -> jobs.Wanted:
        """The anchor of a character: previews have the finals' own, so that faces stay.

        A model's has the size of panels, since only pictures of one size share a batch.
        """
        quality = quality if quality == model.SKETCHED else "final"
        sketched = quality == model.SKETCHED
        width, height = ANCHOR_SIZE if sketched else (self._look.width, self._look.height)
        params = {
            "sheet": requests.sheet_params(self._cast[name]),
            "width": width,
            "height": height,
            **_marked(quality),
        }
        return self._job(
            "anchor",
            quality,
            requests.anchor_request(params),
            [params],
            subject=subject,
            queue="gpu.high",
            klass=HIGH,
            params=params,
            seconds_est=self._seconds("anchor", quality, 1.0),
        )

    def links(
        self, subject: str, episode: int, shot: model.Shot, anchors: Mapping[str, jobs.Wanted]
    ) -> Iterator[jobs.Wanted]:
        """The panel of a shot, and what is done to it. `anchors` by their subjects."""
        first = self._illustrate(subject, episode, shot, anchors)
        yield first
        if self._look.quality_of(shot) == model.SKETCHED:
            return
        made = [first]
        for stage in LINKS:
            if self._has(stage, shot):
                made.append(self._link(stage, shot, made))
                yield made[-1]

    def encode(self, shot: model.Shot, chain: Sequence[jobs.Wanted]) -> jobs.Wanted | None:
        """What a video model wants of the panel before its steps, where it wants that apart."""
        quality = self._look.quality_of(shot)
        if not self._filmed(shot) or self._look.spec("encode", quality) is None:
            return None
        params = {"seed": keys.render_seed(shot), **self._size, **_marked(quality)}
        return self._job(
            "encode",
            quality,
            requests.encode_request(params, self._panel),
            [params, chain[-1].key],
            subject=chain[0].subject,
            queue=self._look.encode_queue,
            klass=MID,
            episode=chain[0].episode,
            params=params,
            needs=_after(chain),
            seconds_est=self._seconds("encode", quality, 1.0),
        )

    def animate(
        self,
        shot: model.Shot,
        lines: Sequence[Mapping[str, Any]],
        chain: Sequence[jobs.Wanted],
        *,
        frames: int,
        voices: Sequence[jobs.Wanted],
        encoded: jobs.Wanted | None,
    ) -> jobs.Wanted:
        """The clip of a shot: a camera move over its panel, or what a video model makes of it."""
        filmed = self._filmed(shot)
        quality = self._look.quality_of(shot) if filmed else model.SKETCHED
        params: dict[str, Any] = {
            "motion": shot.motion,
            "fps": self._look.fps,
            "seed": keys.render_seed(shot),
            "weather": "clear" if shot.scene.place in INDOORS else shot.scene.weather,
            "framing": shot.scene.framing,
            "lines": [
                {k: line[k] for k in ("no", "subject", "text", "spoken")}
                | {"by": line["speaker"] or "" if line["quoted"] else ""}
                for line in lines
            ],
            "card_seconds": cards.seconds(shot),
            **self._size,
        }
        if filmed:
            params |= {
                "scene": requests.scene_params(shot.scene),
                "figures": self._figures(shot),
                "prompt": shot.prompt,
                **_marked(quality),
            }
        own = {k: v for k, v in params.items() if k != "lines"}
        said = [[line["text"], line["spoken"], line["speaker"], line["quoted"]] for line in lines]
        width, height = self._look.width, self._look.height
        sketched = 0.5 + frames / 20 * width * height / (720 * 1280)
        before = [encoded.key] if encoded is not None else []
        needs = [jobs.Need(stage="encode", subject=encoded.subject, kind="hard")] if encoded else []
        return self._job(
            "animate",
            quality,
            requests.clip_request(params, self._panel, frames),
            [own, said, shot.take, chain[-1].key, [voice.key for voice in voices], *before],
            subject=chain[0].subject,
            queue="gpu.mid" if filmed else "cpu",
            klass=MID,
            episode=chain[0].episode,
            params=params,
            needs=(
                *_after(chain),
                *needs,
                *(jobs.Need(stage="voice", subject=voice.subject) for voice in voices),
            ),
            seconds_est=self._seconds("animate", quality, sketched),
        )

    def _illustrate(
        self, subject: str, episode: int, shot: model.Shot, anchors: Mapping[str, jobs.Wanted]
    ) -> jobs.Wanted:
        quality = self._look.quality_of(shot)
        title, subtitle = cards.words(shot)
        width, height = self._look.width, self._look.height
        params: dict[str, Any] = {
            "kind": shot.kind,
            "scene": requests.scene_params(shot.scene),
            "memory": shot.memory,
            "prompt": shot.prompt if shot.kind == "shot" else "",
            "title": title,
            "subtitle": subtitle,
            "figures": self._figures(shot),
            "lettering": self._lettering(shot),
            "seed": keys.render_seed(shot),
            **self._size,
            **_marked(quality),
        }
        needed = [anchors[one] for one in self.anchors_of(shot).values()]
        return self._job(
            "illustrate",
            quality,
            requests.panel_request(params),
            [params, shot.take, [one.key for one in needed]],
            subject=subject,
            queue="gpu.mid",
            klass=MID,
            episode=episode,
            params=params,
            needs=tuple(jobs.Need(stage="anchor", subject=one.subject) for one in needed),
            seconds_est=self._seconds("illustrate", quality, 1.5 * width * height / (720 * 1280)),
        )

    def _link(self, stage: str, shot: model.Shot, before: Sequence[jobs.Wanted]) -> jobs.Wanted:
        quality = self._look.quality_of(shot)
        params: dict[str, Any] = {
            "scene": requests.scene_params(shot.scene),
            "figures": self._figures(shot),
            "prompt": shot.prompt,
            "seed": keys.render_seed(shot),
            **self._size,
            **_marked(quality),
        }
        needs = [*_after(before)]
        if stage == "repaint" and shot.repaint is not None:
            params |= {"mask": shot.repaint.mask, "prompt": shot.repaint.prompt}
            params |= {"seed": shot.repaint.seed} if shot.repaint.seed is not None else {}
            needs += [
                jobs.Need(stage="anchor", subject=one) for one in self.anchors_of(shot).values()
            ]
        elif stage == "outpaint":
            params |= {"margin": MARGIN}
        else:
            params |= {name: round(side * ROOM) for name, side in self._size.items()}
        return self._job(
            stage,
            quality,
            self._request(stage, params),
            [params, shot.take, before[-1].key],
            subject=before[0].subject,
            queue="gpu.mid" if stage == "repaint" else "gpu.low",
            klass=MID,
            episode=before[0].episode,
            params=params,
            needs=tuple(needs),
            seconds_est=self._seconds(stage, quality, 1.0),
        )

    def _request(self, stage: str, params: Mapping[str, Any]) -> protocol.Request:
        if stage == "repaint":
            mask = np.empty(self._panel.image.shape[:2], np.uint8)
            return requests.repaint_request(params, self._panel, mask)
        if stage == "outpaint":
            return requests.outpaint_request(params, self._panel)
        return requests.upscale_request(params, self._panel)

    def _has(self, stage: str, shot: model.Shot) -> bool:
        asked = shot.repaint is not None if stage == "repaint" else getattr(self._look, stage)
        return asked and self._look.spec(stage, self._look.quality_of(shot)) is not None

    def _filmed(self, shot: model.Shot) -> bool:
        """Whether a video model makes the clip, rather than a camera that moves over the panel."""
        quality = self._look.quality_of(shot)
        return quality != model.SKETCHED and self._look.spec("animate", quality) is not None

    def _figures(self, shot: model.Shot) -> list[dict[str, Any]]:
        emotions = dict(zip(shot.characters, shot.emotions, strict=False))
        ages = dict(zip(shot.characters, shot.ages, strict=False))
        gestures = dict(zip(shot.characters, shot.gestures, strict=False))
        held = dict(zip(shot.characters, shot.held, strict=False))
        speakers = {line.speaker for line in shot.lines if line.quoted}
        return [
            {
                "sheet": requests.sheet_params(self._cast[name]),
                "emotion": emotions.get(name, "calm"),
                "speaking": name in speakers,
                "age": ages.get(name, ""),
                "gesture": gestures.get(name, ""),
                "held": held.get(name, ""),
            }
            for name in self.names(shot)
        ]

    def _lettering(self, shot: model.Shot) -> list[dict[str, Any]]:
        """Words that are drawn into the panel: no model can write, so it has them below instead."""
        if self._look.quality_of(shot) != model.SKETCHED:
            return []
        return [dataclasses.asdict(one) for one in lettering.of(shot)]

    def _seconds(self, stage: str, quality: model.Quality, sketched: float) -> float:
        if quality == model.SKETCHED:
            return sketched
        pixels = self._look.width * self._look.height / (720 * 1280)
        return max(1.0, _SECONDS[stage] * pixels) * (_PREVIEW if quality == "preview" else 1)

    def _job(
        self,
        stage: str,
        quality: model.Quality,
        request: protocol.Request,
        inputs: Sequence[Any],
        **fields: Any,
    ) -> jobs.Wanted:
        engine, spec = self._look.maker(quality), self._look.spec(stage, quality)
        assert spec is not None, f"{engine.name} runs no {stage}: nobody may ask for it"
        return jobs.Wanted(
            stage=stage,
            key=keys.key_of(*keys.made_by(engine, stage, quality), *inputs),
            bucket=engine.bucket(request),
            model=spec.key,
            cap=(cap := engine.cap(request)),
            peaks=tuple(engine.peak(request, members) for members in range(1, cap + 1)),
            **fields,
        )


def _marked(quality: model.Quality) -> dict[str, str]:
    """What marks a job of models; what is drawn by rule has its params as ever."""
    return {} if quality == model.SKETCHED else {"quality": quality}


def _after(chain: Sequence[jobs.Wanted]) -> tuple[jobs.Need, ...]:
    """What the next link needs: the drawn panel, and softly what was done to it since."""
    first, *rest = chain
    return (
        jobs.Need(stage=first.stage, subject=first.subject, kind="hard"),
        *(jobs.Need(stage=one.stage, subject=one.subject) for one in rest),
    )
