"""A service that makes vectors of texts, on the pool that mangen's comics run on."""

import time
import zlib

import numpy as np

from mangen.pooling import alone, models, once, work

SENTENCES = ("The cat sat on the mat.", "Rain fell all night.", "A cat sat on a mat.", "Buy bonds.")
GRAMS, WIDTH = 2**13, 64
WEIGHTS = GRAMS * WIDTH * 8  # a seeded projection of counted trigrams: load it once, use it often
MODEL = models.ModelSpec(key="trigrams-1", weight_bytes=WEIGHTS,
    load=lambda: np.random.default_rng(1).standard_normal((GRAMS, WIDTH)))  # fmt: skip


def embed(projection, texts):
    counts = np.zeros((len(texts), GRAMS))
    for row, text in zip(counts, texts, strict=True):
        for at in range(len(text)):
            row[zlib.crc32(text[at : at + 3].encode()) % GRAMS] += 1
    vectors = counts @ projection
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Embedding:  # a work.Work: each child makes one
    def __init__(self, _settings): ...

    def open(self, _bucket, rt):
        return once.Once(lambda items: answer(items, rt))

    def spec(self, model):
        return MODEL if model == MODEL.key else None

    def give_back(self, _item, why):
        return work.Outcome.aborted(why)


def answer(items, rt):
    """Look up what was made before, and make the rest in one go."""
    texts = {item.key: item.data["text"] for item in items}
    found = {text: rt.cache.get("text", f"{MODEL.key} {text}") for text in texts.values()}
    if new := [text for text, vector in found.items() if vector is None]:
        with rt.use(MODEL) as projection:
            began = time.monotonic()
            found |= dict(zip(new, embed(projection, new), strict=True))
        each = (time.monotonic() - began) / len(new)
        for text in new:
            rt.cache.put("text", f"{MODEL.key} {text}", found[text], seconds=each)
    return {key: work.Outcome.done(found[text].tolist()) for key, text in texts.items()}


def item(key, text):
    """A request; texts of like length share a bucket. `peaks` are bytes beside the weights."""
    return work.Item(key=key, name="embed", bucket=f"2^{len(text).bit_length()}", model=MODEL.key,
        peaks=tuple(8 * GRAMS * n for n in range(1, 17)), cap=16, data={"text": text})  # fmt: skip


def main():
    with alone.Pool("embedding:Embedding", cache_kinds={"text": {}}) as pool:
        futures = [pool.submit(item(f"text {n}", text)) for n, text in enumerate(SENTENCES)]
        vectors = np.array([one.result(timeout=60).value for one in futures])
    alike = np.triu(vectors @ vectors.T, 1)
    first, second = np.unravel_index(alike.argmax(), alike.shape)
    print(f"{alike.max():.0%} alike:\n{SENTENCES[first]}\n{SENTENCES[second]}")


if __name__ == "__main__":
    main()
