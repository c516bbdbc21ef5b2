"""Tokenizers for tiny checkpoints, made from nothing: no download, no words of others."""

from __future__ import annotations

from typing import Any

#: merges enough that some words become fewer tokens than they have letters
_MERGES = (("t", "h"), ("th", "e</w>"), ("i", "n"), ("e", "r</w>"), ("o", "f</w>"), ("a", "n"))
_CHATS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_PLAIN = "\u2581abcdefghijklmnopqrstuvwxyz0123456789,.!?-'"


def clip(pad: str = "<|endoftext|>") -> Any:
    """Bytes and a few merges, 77 tokens at most, as CLIP's text encoders take them."""
    import transformers  # noqa: PLC0415 - only commands and children that make one load it

    letters = _alphabet()
    words = [*letters, *(letter + "</w>" for letter in letters), *map("".join, _MERGES)]
    # the last is the largest: CLIPTextModel pools where it stands
    words += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: number for number, word in enumerate(words)}
    return transformers.CLIPTokenizer(
        vocab=vocabulary, merges=list(_MERGES), pad_token=pad, model_max_length=77
    )


def qwen() -> Any:
    """Bytes, and the marks of a chat."""
    import transformers  # noqa: PLC0415 - as above

    words = [*_alphabet(), "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]
    made = transformers.Qwen2TokenizerFast(
        vocab={word: number for number, word in enumerate(words)},
        merges=[],
        unk_token=None,
        eos_token="<|im_end|>",  # noqa: S106 - a mark of the chat, no secret
        pad_token="<|endoftext|>",  # noqa: S106 - as above
        extra_special_tokens=["<|im_start|>", "<think>", "</think>"],
    )
    made.chat_template = _CHATS
    return made


def t5() -> Any:
    """Small letters, numbers and stops; anything else is unknown."""
    import transformers  # noqa: PLC0415 - as above

    words = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -5.0), *((one, -3.0) for one in _PLAIN)]
    return transformers.T5TokenizerFast(vocab=words, extra_ids=0)


def _alphabet() -> list[str]:
    """A visible letter for each of the 256 bytes, by the rule that GPT-2 began."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [number for number in range(256) if number not in seen]
    letters = {**{n: chr(n) for n in seen}, **{n: chr(256 + k) for k, n in enumerate(hidden)}}
    return [letters[number] for number in range(256)]
