"""A small BPE of each family of tokenizers, trained on this machine: byte-level, or with the bytes of some characters.

The expressions are those of the published `tokenizer.json` of each family. They differ in what a token may depend on
behind it: contractions, runs of white space before a letter, digits in threes, line ends behind punctuation.
"""

import json

from small_tokenizers import SPACE, byte_alphabet
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from oversmoothing.data.tokens.vocabulary import byte_tokenizer

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORDS = rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?"
O200K = WORDS + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES

FAMILIES = {  # name: (steps of the pre-tokenizer, other settings)
    "gpt2": ([pre_tokenizers.ByteLevel(add_prefix_space=False)], {}),
    "smollm2": ([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)], {}),
    "llama3": (
        [
            pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
        {"ignore_merges": True},
    ),
    "qwen2": (
        [
            pre_tokenizers.Split(Regex(QWEN2), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
        {"nfc": True},
    ),
    "o200k": (
        [
            pre_tokenizers.Split(Regex(O200K), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
        {},
    ),
    "neox": ([pre_tokenizers.ByteLevel(add_prefix_space=False)], {"nfc": True, "runs": range(6, 1, -1)}),
}
SPECIAL = ("<|endoftext|>", "<|pad|>")
SPACED = normalizers.Replace(" ", SPACE)
PIECES = {  # name: (normaliser, pre-tokenizer, added tokens), with bytes for characters that are no tokens
    "llama2": (normalizers.Sequence([normalizers.Prepend(SPACE), SPACED]), None, ()),
    "mistral": (None, pre_tokenizers.Metaspace(SPACE, "first", False), ()),
    "gemma": (
        SPACED,
        pre_tokenizers.Split(" ", "merged_with_previous"),
        ("\n", "\n\n", "\n\n\n", "\t", 2 * SPACE, 3 * SPACE, "<b>"),
    ),
}
ADDED_BEFORE = {"llama2": {"before": " ", "always": True}, "mistral": {"before": " "}}  # as arguments of a `Judge`
SPELLED_BY_BYTES = "\n\r\tèïü在这里😀;[]"  # no tokens, in spite of the text for training

PROSE = (
    "They're here, and it's what the men don't say; IT'S LATE, THEY'RE THERE. I'll, we've, I'm, he'd.\n\n"
    '  The note said: "12 of the 123 were there." It was 1234567 in all.\r\n\r\nThe other one, the end.\n'
    "def read(line):\n    if line:\n        return line[1:]\n    return 'it'\n\n\tx = 1  # the end\n"
    "Un café très près; déjà vu, naïve, Zürich.  我们在这里。我们的。 😀😀 🎉 ok\n"
)
CODE = "\n\n\n  \n      a\n    \r\n  b  c   d     \n\t\t'''re 've 'll 's 't ('s) (the) .\" .' 's\n 12 123 12,345 \n"


def merged(words: tuple[str, ...]) -> str:
    """Return words often enough that their pieces are merged."""
    return " ".join(words * 6)


TEXT = PROSE * 3 + CODE * 3 + merged(("the", "they're", "'re", "it's", "IT'S", "123", "12", "é", "我们", "😀"))
CONTRACTED = "we're you're we've I'll we'll he's I'd I'm 'LL 'RE " * 9  # so that "'r" is a token, before "re" is


def tokenizer_of(family: str, text: str = TEXT, size: int = 330) -> Tokenizer:
    """Return the family's tokenizer, trained on a text, of about that many tokens, two of which are special.

    With `ignore_merges`, the vocabulary also holds words that no merges make. "bytes" is the tokenizer of 256 tokens.
    """
    if family == "bytes":
        return byte_tokenizer()
    if family in PIECES:
        return of_pieces(*PIECES[family], text, size)
    steps, other = FAMILIES[family]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]
    tokenizer.decoder = decoders.ByteLevel()
    if other.get("nfc"):
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.train_from_iterator(
        [text],
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(SPECIAL),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    if other.get("ignore_merges"):
        tokenizer.model = with_words(tokenizer, ("Ġwhat", "hether", "Ġ,", "Ċĉ"))
    if runs := other.get("runs"):
        tokenizer.add_tokens([AddedToken(" " * length, normalized=True, special=False) for length in runs])
    tokenizer.encode_special_tokens = True  # "<|pad|>" in a text is text
    return tokenizer


def of_pieces(normalizer, pre_tokenizer, added: tuple[str, ...], text: str, size: int) -> Tokenizer:
    """Return a BPE over characters, with tokens of all bytes and added ones, some of which merges make too."""
    spaced = "".join(character for character in text if character not in SPELLED_BY_BYTES).replace(" ", SPACE)
    small = Tokenizer(models.BPE())
    small.pre_tokenizer = pre_tokenizers.Split(Regex(f"{SPACE}*[^{SPACE}]+"), "isolated")
    small.train_from_iterator([spaced], trainers.BpeTrainer(vocab_size=size - 200, show_progress=False))
    pieces = sorted(small.get_vocab(), key=small.get_vocab().get)
    names = dict.fromkeys(["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256)), *added, *pieces])
    merges = merges_of(small)
    merges += [pair for pair in [("\n", "\n"), ("\n\n", "\n"), (SPACE, SPACE)] if pair[0] + pair[1] in names]
    vocabulary = {name: id for id, name in enumerate(names)}
    model = models.BPE(vocabulary, list(dict.fromkeys(merges)), unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<unk>", "<s>"])
    tokenizer.add_tokens([AddedToken(each, normalized=False, special=False) for each in added])
    tokenizer.encode_special_tokens = True
    return tokenizer


def with_words(tokenizer: Tokenizer, words: tuple[str, ...]) -> models.BPE:
    """Return the tokenizer's model with `ignore_merges`, and words that a pre-token of the same text gives whole."""
    vocabulary = tokenizer.get_vocab()
    merges = merges_of(tokenizer)
    for word in words:
        assert word not in vocabulary
        vocabulary[word] = len(vocabulary)
    return models.BPE(vocabulary, merges, ignore_merges=True)


def merges_of(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """Return the merges of a BPE by rank, as pairs of names."""
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def token_bytes(tokenizer: Tokenizer) -> list[bytes | None]:
    """Return the bytes of each id; None for a special token."""
    byte = {character: code for code, character in enumerate(byte_alphabet())}
    pieces = json.loads(tokenizer.to_str())["model"]["byte_fallback"]
    texts: list[bytes | None] = [None] * tokenizer.get_vocab_size()
    for name, token in tokenizer.get_vocab().items():
        if pieces:
            texts[token] = bytes([int(name[3:5], 16)]) if name[:3] == "<0x" else name.replace(SPACE, " ").encode()
        else:
            texts[token] = bytes(byte[character] for character in name) if set(name) <= set(byte) else None
    for token, added in tokenizer.get_added_tokens_decoder().items():
        plain = added.content.replace(SPACE, " ") if pieces else added.content
        texts[token] = None if added.special else plain.encode()
    return texts
