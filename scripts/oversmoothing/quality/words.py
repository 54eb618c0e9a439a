"""What is said of a sample word by word (thesis 5.2): repetition, valid words, the length of words.

Words are what `str.split` gives: they keep their punctuation. A prompt may end inside a word: `sample_text` can put
that part before the continuation, so that the first word is whole. A text without a word repeats nothing, has no valid
word and words of length 0, so that every sample counts; such a sample is as far from human as a long non-word, and is
no reason for a hole.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import pairwise

from english_words import get_english_words_set

LOOP_PHRASE = 2  # words, the least that a phrase has
LOOP_TIMES = 3


def decode(data: bytes) -> str:
    """Turn bytes into text; what is no UTF-8 is left out, as in the thesis's script."""
    return data.decode("utf-8", errors="ignore")


def sample_text(prompt: bytes, continuation: bytes, completed: bool) -> str:
    """Return a continuation as text, if `completed` with the word in which the prompt breaks off before it.

    Then prompt and continuation are decoded together, so that a character they share is kept.
    """
    if not completed:
        return decode(continuation)
    begun = decode(prompt)
    partial = 0 if not begun or begun[-1].isspace() else len(begun.split()[-1])
    return decode(prompt + continuation)[len(begun) - partial :]


def bigram_repetition(words: Sequence[str]) -> float:
    """Measure repetition as published: the share of the pairs of neighbouring words that occur more than once.

    Each occurrence counts. (Human web text of 500 bytes then has the 0.049 of Table 5.3.)

    Returns
    -------
    float
        0 to 1; 0 with fewer than two words.
    """
    pairs = Counter(pairwise(words))
    return sum(n for n in pairs.values() if n > 1) / pairs.total() if pairs else 0.0


def ends_in_loop(text: str) -> float:
    """Say whether a text ends in a loop: a phrase of at least two words, three times in a row.

    The last word does not count unless white space follows it: the sample's length may have cut it.

    Returns
    -------
    float
        1.0 if it does, else 0.0; the mean over samples is the share of those that end in a loop.

    References
    ----------
    A. Holtzman et al., "The curious case of neural text degeneration", ICLR 2020.
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
    """Return the share of words, lowercased, that stand in `dictionary`: 0 to 1, 0 without a word."""
    return sum(word.lower() in dictionary for word in words) / len(words) if words else 0.0


def word_length(words: Sequence[str]) -> float:
    """Return the mean number of characters of a word, 0 without a word."""
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
    """Return every metric of `WORD_METRICS` of one sample, of the text that each reads.

    Parameters
    ----------
    prompt, continuation : bytes
    completed : collection of str
        The metrics that read the partial word of the prompt too.
    """
    return {name: of(sample_text(prompt, continuation, name in completed)) for name, of in WORD_METRICS.items()}
