"""Whether two tokenizers of one vocabulary read texts alike: merges, split expressions and normalizers may differ."""

from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from oversmoothing.data.tokens.limits import encoded
from oversmoothing.data.tokens.vocabulary import BY_BYTES, FAST, UNLIKE, load_tokenizer
from oversmoothing.jobs import UserError

# Where tokenizers differ: contractions, capitals, numbers, white space, code, letters with accents, other scripts,
# compatibility characters, emoji, and what looks like a token.
PROBE = (
    "The water's edge, where they're reading: I'll say it isn't so; WE'LL SEE, McDonald's iPhone.  Two spaces, no?!\n"
    "In 1987 it was 1,234.5678 or 20261125 (3.14e-10), 100% of $12.50.\r\n\r\n\r\n \t\t tabs\t and   spaces   \n\n\n"
    "def f(x_1, camelCase):\n    if x_1 != 0 and not None:\n        return [x**2 for _ in range(10)]  # don't\n\n"
    "</div>\n```{\"key\": 'https://example.org/a?b=1&c=%20'}```\n    \n"
    "caf\u00e9 cafe\u0301 \u212b \ufb01 \u2167 \uff11\uff12\uff01 \u2581 \u00a0\u3000\u2009\u200b\ufeff\u2028 "
    "\u2026 \u2014 \u201cquoted\u201d "
    "\u6c34\u306f\u5ddd\u3092\u6d41\u308c\u308b\u3002\u6f22\u5b57\uff0c\ud55c\uad6d\uc5b4 "
    "\u0412\u043e\u0434\u0430 \u0645\u0627\u0621 \u092a\u093e\u0928\u0940 \u0e19\u0e49\u0e33 "
    "\U0001f44d\U0001f3fd \U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001d518 <|x|> <s> [INST]\x00\x1b\x7f end"
)
QUOTED = 16  # characters of a text in a message


def check_alike(tokenizer: Tokenizer, folder: str | Path, name: str, texts: Iterable[str] = ()) -> None:
    """Raise a `UserError` unless the tokenizer in a model's folder divides `PROBE` and `texts` as the study's does.

    Their vocabularies are the same (`vocabulary.check_same`).
    """
    path = Path(folder) / FAST
    own = load_tokenizer(path)
    for text in (PROBE, *texts):
        one, other = (encoded(each, text, f"{path}: a text") for each in (tokenizer, own))
        if one.ids != other.ids:
            raise UserError(
                f"{name}: {UNLIKE}: its tokens are the same, but {_place(one, other, text)} ({path}); {BY_BYTES}"
            )


def _place(one: Encoding, other: Encoding, text: str) -> str:
    """Return the first place where two tokenizers divide a text differently."""
    pairs = enumerate(zip_longest(one.ids, other.ids))
    place, ids = next((i, pair) for i, pair in pairs if len(set(pair)) > 1)
    start = one.offsets[place][0] if place < len(one.ids) else len(text)
    first, second = ("no further token" if id is None else f"id {id}" for id in ids)
    counts = f"{len(other.ids)} tokens of the text and not {len(one.ids)}"
    return f"at {text[start : start + QUOTED]!r} it has {second} and the other has {first}, with {counts}"
