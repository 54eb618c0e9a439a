"""Small tokenizers of the kinds that models of the hub have, made on this machine."""

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # a space in the vocabularies of SentencePiece
SPECIAL = ["<unk>", "<s>", "</s>"]
SPLIT = r"'(?:s|t|re|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+"


def byte_alphabet():
    """Return GPT-2's character of each byte: printable ones stand for themselves, the others follow from U+0100 on."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in shown else chr(next(others)) for byte in range(0x100)]


def byte_tokens(lacking=b"", merges=(), normalizer=None, words=None, ignore_merges=False, added=(), unknown=()):
    """Return a tokenizer of 256 tokens, of which token b is byte b, and the special id 256.

    Some bytes may be `lacking`; `merges`, as ("a", "b"), add tokens. With `words`, an expression, a normalizer and
    `ignore_merges` it is of the kind of Llama 3 or Qwen. Tokens that are `added` are not special.
    """
    names = [name for byte, name in enumerate(byte_alphabet()) if byte not in lacking]
    names += ["".join(pair) for pair in merges] + [*unknown]
    vocabulary = {name: place for place, name in enumerate(names)}
    unk = {"unk_token": unknown[0]} if unknown else {}
    tokenizer = Tokenizer(models.BPE(vocabulary, list(merges), ignore_merges=ignore_merges, **unk))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if words:
        steps = [pre_tokenizers.Split(Regex(words), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    tokenizer.add_tokens(list(added))
    return tokenizer


def sentencepiece(pieces=("the", "wa", "ter", "water", "the water")):
    """Return a tokenizer like Llama 2's: three special ids, 256 bytes as <0x0A>, ASCII, and words behind a space."""
    names = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), SPACE, *map(chr, range(0x21, 0x7F))]
    merges = []
    for piece in pieces:
        word = SPACE + piece.replace(" ", SPACE)
        for end in range(2, len(word) + 1):
            if word[:end] not in names:
                names.append(word[:end])
                merges.append((word[: end - 1], word[end - 1]))
    vocabulary = {name: place for place, name in enumerate(names)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    steps = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer
