"""Names of special tokens that are written in a text, which tokenizers here read as text."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from operator import or_

import numpy as np
from tokenizers import Tokenizer

from oversmoothing.data.notes import tell

SHOWN = 3  # names of which a note says how often they stand there


def special_names(tokenizer: Tokenizer, text: bytes | np.ndarray) -> Counter[str]:
    """Return how often UTF-8, uint8 (n,) if an array, has the name of each special token; the longest, where two do."""
    added = tokenizer.get_added_tokens_decoder().values()
    names = sorted({token.content.encode() for token in added if token.special and token.content.strip()}, key=len)
    if not names:
        return Counter()
    any_name = re.compile(b"|".join(map(re.escape, reversed(names))))
    return Counter(bytes(found[0]).decode() for found in any_name.finditer(text))  # type: ignore[arg-type]


def tell_special_names(tokenizers: Iterable[Tokenizer], text: bytes | np.ndarray, name: str) -> None:
    """Tell the user how often the text `name` has names of special tokens of any tokenizer, and what to do."""
    names: Counter[str] = reduce(or_, (special_names(tokenizer, text) for tokenizer in tokenizers))
    if not names:
        return
    most = ", ".join(
        f"{word!r} {'once' if count == 1 else f'{count:,} times'}" for word, count in names.most_common(SHOWN)
    )
    others = f" and names of {len(names) - SHOWN} others" if len(names) > SHOWN else ""
    border = names.most_common(1)[0][0]
    tell(
        [
            f"Note: {name} has {most}{others}: names of special tokens, which are read as text. If one stands between "
            f"documents, split there: --split-on '{border}', or in a config corpus.cut: {{text: '{border}'}}"
        ]
    )
