"""The next-byte distributions of a language model by their definition, with the tokenizer itself as the judge.

P(b | x) = P(x b) / P(x). P(x) is the sum over all covers of x: token sequences that can stand, all but the last token
inside x, the last one reaching or passing its end. A sequence s can stand if encode(text of s + w) begins with s for
some continuation w. Nothing here knows a pre-tokenizer, a merge or a variant: the judge tries continuations.
"""

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, reduce

import numpy as np
from scipy.special import log_softmax
from tokenizers import Tokenizer

Tokens = tuple[int, ...]

LETTERS = "strevlmdaSTREVLMDé我\N{LATIN SMALL LETTER LONG S}"  # of contractions in both cases, and of other scripts
OTHERS = " \n\r\t'\"01.,-(/_\u00a0\u2028\u0301\N{GRINNING FACE}ⅷᾼʰ"
FIRST = LETTERS + OTHERS
BEHIND = "re1 \n'.我"
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "re", "ve", "ll", "RE", "VE", "'LL", "Re", "'Ve")
LAST = "e '1"
COMPLETED = ("", *"ae \n'1.,\u0301我")  # behind a character that a continuation begins by completing


MORE = map("".join, [*itertools.product(BEHIND, repeat=2), *itertools.product(LAST, repeat=3)])
CONTINUATIONS = list(dict.fromkeys(["", *FIRST, *CONTRACTIONS, *MORE]))


@dataclass
class Judge:
    """Says which token sequences can stand, by encoding their text with continuations.

    Parameters
    ----------
    tokenizer : The judge.
    texts : The bytes of each id; None for one without.
    before : What the tokenizer adds before a text, and the texts of sequences have: nothing or a space.
    always : Whether it adds this before a text that has it already.
    """

    tokenizer: Tokenizer
    texts: list[bytes | None]
    before: str = ""
    always: bool = False
    verdicts: dict[Tokens, frozenset[int]] = field(default_factory=dict)

    def followers(self, sequence: Tokens) -> frozenset[int]:
        """Return all ids u for which `sequence` + (u,) can stand: every id is tried."""
        if sequence not in self.verdicts:
            before = b"".join(self.texts[token] for token in sequence)
            tried = [(u, before + text) for u, text in enumerate(self.texts) if text]
            tried = [(u, characters(text)) for u, text in tried]
            self.verdicts[sequence] = frozenset(self.standing(sequence, [(u, c) for u, c in tried if c is not None]))
        return self.verdicts[sequence]

    def standing(self, sequence: Tokens, tried: list[tuple[int, tuple[str, bytes]]]) -> Iterator[int]:
        """Return those of the ids, each given with its text and incomplete tail, that can stand behind a sequence."""
        quick = self.encode([text + next(iter(completions(tail))) for _, (text, tail) in tried])
        for (u, (text, tail)), first in zip(tried, quick, strict=True):
            want = [*sequence, u]
            if first[: len(want)] == want or self.stands(want, text, tail):
                yield u

    def stands(self, want: list[int], text: str, tail: bytes) -> bool:
        """Whether the encoding of the text with some completion and some continuation begins with these ids."""
        for completion in completions(tail):
            behind = COMPLETED if tail else CONTINUATIONS
            found = self.encode([text + completion + rest for rest in behind])
            if any(ids[: len(want)] == want for ids in found):
                return True
        return False

    def encode(self, texts: list[str]) -> list[list[int]]:
        added = self.before if self.always else ""
        read = [text.removeprefix(added) for text in texts]
        found = [one.ids for one in self.tokenizer.encode_batch_fast(read, add_special_tokens=False)]
        return [ids if text.startswith(added) else [] for text, ids in zip(texts, found, strict=True)]


@cache
def characters(text: bytes) -> tuple[str, bytes] | None:
    """Return the whole characters of a text and the bytes of an incomplete last one; None if it is not UTF-8."""
    for cut in range(min(3, len(text)) + 1):
        head, tail = text[: len(text) - cut], text[len(text) - cut :]
        try:
            whole = head.decode()
        except UnicodeDecodeError:
            continue
        return (whole, tail) if not tail or completions(tail) else None
    return None


@cache
def completions(tail: bytes) -> tuple[str, ...]:
    """Return characters that begin with these bytes: all if one byte lacks, else a few of each kind.

    Kinds are the general category, the combining class, and whether composition (NFC) changes the character or may
    join it to the one before.
    """
    if not tail:
        return ("",)
    kinds: dict[tuple, list[str]] = {}
    every = one_byte_lacks(tail)
    for character in beginning_with(tail):
        if every:
            kinds[(character,)] = [character]
            continue
        kind = unicodedata.category(character), unicodedata.combining(character) > 0, is_stable(character)
        kinds.setdefault(kind, []).append(character)
    chosen = [c for found in kinds.values() for c in dict.fromkeys((found[0], found[len(found) // 2], found[-1]))]
    return tuple(sorted(chosen, key=lambda c: unicodedata.category(c) in ("Cn", "Co")))


def is_stable(character: str) -> bool:
    """Whether NFC leaves a character as it is behind an "e", and so alone too."""
    return unicodedata.is_normalized("NFC", "e" + character)


def one_byte_lacks(tail: bytes) -> bool:
    return len(tail) == length(tail) - 1


def length(tail: bytes) -> int:
    """Return the number of bytes of the characters that begin with these bytes."""
    return 2 if tail[0] < 0xE0 else 3 if tail[0] < 0xF0 else 4


def beginning_with(tail: bytes) -> list[str]:
    """Return all characters whose bytes begin with these and go on."""
    lacking = 6 * (length(tail) - len(tail))  # bits
    if not (0xC2 <= tail[0] <= 0xF4 and lacking and all(0x80 <= byte < 0xC0 for byte in tail[1:])):
        return []
    known = reduce(lambda code, byte: code << 6 | byte & 0x3F, tail[1:], tail[0] & 0x7F >> length(tail))
    first, last = known << lacking, (known + 1 << lacking) - 1
    least = {2: 0x80, 3: 0x800, 4: 0x10000}[length(tail)]  # below which code points have fewer bytes
    codes = range(max(first, least), min(last, 0x10FFFF) + 1)
    return [chr(code) for code in codes if not 0xD800 <= code < 0xE000]


@dataclass
class Model:
    """A language model that is a pure function of the tokens before: rows drawn from a hash of them, some peaked."""

    ids: int
    seed: int = 0
    rows: dict[Tokens, np.ndarray] = field(default_factory=dict)

    def row(self, tokens: Tokens) -> np.ndarray:
        """Return the float64 log-probabilities (ids,) of the next token."""
        if tokens not in self.rows:
            draw = np.random.default_rng([self.seed, len(tokens), *tokens])
            spread = draw.choice([0.5, 2.0, 6.0])
            self.rows[tokens] = log_softmax(spread * draw.standard_normal(self.ids))
        return self.rows[tokens]

    def predict(self, tree) -> np.ndarray:
        """Return the rows (nodes, ids) of a tree of tokens, whose node 0 is the empty text."""
        paths: list[Tokens] = []
        for token, parent in zip(np.asarray(tree.tokens).tolist(), np.asarray(tree.parents).tolist(), strict=True):
            paths.append((*paths[parent], token) if paths else ())
        return np.stack([self.row(path) for path in paths])


@dataclass
class Enumerated:
    """What enumeration finds at each position of a text: shapes (n, 256), (n,), and the sequences (n,)."""

    probabilities: np.ndarray
    dropped: np.ndarray
    variants: list[dict[Tokens, float]]  # the sequences that can stand with exactly the text x_<t, with ln P


def enumerate_text(judge: Judge, row: Callable[[Tokens], np.ndarray], text: bytes) -> Enumerated:
    """Return P(b | x_<t) for all bytes b and positions t of a text, and the mass that is dropped there.

    Every sequence whose text is a beginning of `text` is extended by every id that can stand behind it. What the
    tokenizer adds before a text is given.
    """
    before = judge.before.encode()
    given = 0 if text.startswith(before) and not judge.always else len(before)
    text = before[:given] + text
    n = len(text)
    exact: list[dict[Tokens, float]] = [{(): 0.0}, *({} for _ in range(n))]
    covers: list[list[list[float]]] = [[[] for _ in range(256)] for _ in range(n)]
    for i in range(n):
        for sequence, log_p in exact[i].items():
            log_row = row(sequence)
            for u in judge.followers(sequence):
                token = judge.texts[u]
                assert token
                total = log_p + float(log_row[u])
                for t in range(i, min(i + len(token), n)):
                    covers[t][token[t - i]].append(total)
                    if token[t - i] != text[t]:
                        break
                if text.startswith(token, i) and i + len(token) <= n:
                    exact[i + len(token)][(*sequence, u)] = total
    logs = np.array([[log_sum(terms) for terms in by_byte] for by_byte in covers])
    prefix = np.append(0.0, logs[np.arange(n), np.frombuffer(text, np.uint8)])
    joint = np.exp(logs - prefix[:n, None])
    joint = joint[given:]
    totals = joint.sum(axis=1)
    return Enumerated(joint / totals[:, None], 1 - totals, exact[given:])


def log_sum(terms: Iterable[float]) -> float:
    terms = np.array(list(terms))
    if not len(terms):
        return -np.inf
    return float(terms.max() + np.log(np.exp(terms - terms.max()).sum()))
