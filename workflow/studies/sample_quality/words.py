"""Metrics of a sample's words (thesis 5.2): repetition, valid words, word length.

Words are split by `str.split` and keep their punctuation. A prompt may end inside a word; `sample_text` can prepend
that part to the continuation, so that the first word is whole. A text without words has no repetition, no valid words
and word length 0, so that every sample counts: such a sample is as far from human text as a long non-word.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import pairwise

from english_words import get_english_words_set

LOOP_PHRASE = 2  # minimum number of words in a phrase
LOOP_TIMES = 3


def decode(data: bytes) -> str:
    """Decode bytes as UTF-8, dropping invalid ones, as in the thesis's script."""
    return data.decode("utf-8", errors="ignore")


def sample_text(prompt: bytes, continuation: bytes, completed: bool) -> str:
    """Return a continuation as text, preceded, if `completed`, by the partial word at the end of the prompt.

    Prompt and continuation are then decoded together, so that a character they share is kept.
    """
    if not completed:
        return decode(continuation)
    begun = decode(prompt)
    partial = 0 if not begun or begun[-1].isspace() else len(begun.split()[-1])
    return decode(prompt + continuation)[len(begun) - partial :]


def bigram_repetition(words: Sequence[str]) -> float:
    """Return repetition as published: the share of the pairs of neighbouring words that occur more than once, 0 to 1.

    Each occurrence counts. (For human web text of 500 bytes this gives the 0.049 of Table 5.3.) It is 0 with fewer than
    two words.
    """
    pairs = Counter(pairwise(words))
    return sum(n for n in pairs.values() if n > 1) / pairs.total() if pairs else 0.0


def ends_in_loop(text: str) -> float:
    """Return 1.0 if a text ends in a loop, a phrase of at least two words three times in a row, else 0.0.

    The last word is ignored unless white space follows it, because the sample may have been cut there (Holtzman et al.,
    "The curious case of neural text degeneration", ICLR 2020).
    """
    words = text.split()
    if words and not text[-1].isspace():
        words = words[:-1]
    for length in range(LOOP_PHRASE, len(words) // LOOP_TIMES + 1):
        end = words[-length * LOOP_TIMES :]
        if end == end[:length] * LOOP_TIMES:
            return 1.0
    return 0.0


def valid_words(words: Sequence[str], dictionary: AbstractSet[str]) -> float:
    """Return the share of words, lowercased, that are in `dictionary`: 0 to 1; 0 without words."""
    return sum(word.lower() in dictionary for word in words) / len(words) if words else 0.0


def word_length(words: Sequence[str]) -> float:
    """Return the mean number of characters per word; 0 without words."""
    return sum(map(len, words)) / len(words) if words else 0.0


@cache
def dictionary() -> frozenset[str]:
    """Return the thesis's valid words: the 234,450 of Webster's Second International, lowercased."""
    return frozenset(get_english_words_set(["web2"], lower=True))


WORD_METRICS: dict[str, Callable[[str], float]] = {
    "bigram": lambda text: bigram_repetition(text.split()),
    "loop": ends_in_loop,
    "valid_words": lambda text: valid_words(text.split(), dictionary()),
    "word_length": lambda text: word_length(text.split()),
}


def word_metrics(prompt: bytes, continuation: bytes, completed: Collection[str]) -> dict[str, float]:
    """Return every metric of a sample; those in `completed` also read the partial word at the end of the prompt."""
    return {name: of(sample_text(prompt, continuation, name in completed)) for name, of in WORD_METRICS.items()}
