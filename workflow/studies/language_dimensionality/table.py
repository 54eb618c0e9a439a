"""Table of the W-error of n-gram matrices: what a head of a given dimension must lose of a language."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from oversmoothing.page import Cell, Page, Section, Value

THRESHOLD = 1000  # dimensions below which Godey et al. (2024) see models fall behind
TOKENS = {"byte": "bytes", "byte pair": "byte pairs"}
SIZES = ["text", "token", "context", "v", "tokens", "contexts", "contexts_seen"]
RANKS = ["effective_rank", "effective_rank_shuffled"]
ERRORS = ["w_error", "shuffled", "without_noise", "without_noise_low", "without_noise_high"]


def dimensionality_table(sizes: pd.DataFrame, spectra: pd.DataFrame, ranks: Sequence[int]) -> pd.DataFrame:
    """W-error at the family's ranks: of a text, of the shuffled text, and without the noise of sampling.

    Parameters
    ----------
    sizes, spectra : DataFrame
        Schemas `measure.SIZES` and `measure.SPECTRA`, with a column ``text``.
    ranks : sequence of int
        Ranks of the family; 1,000 is added.

    Returns
    -------
    DataFrame
        One row per text, kind of token, length of context and ``dimensions``. Errors are 0 from v dimensions on, and
        missing where fewer singular values were computed. ``without_noise`` and its interval from
        ``without_noise_low`` to ``without_noise_high`` are also missing where too few contexts recur. The effective
        ranks are those of the whole matrix.
    """
    errors = spectra.set_index(["text", "token", "context", "d"])[ERRORS]
    rows = []
    for size in sizes.to_dict("records"):
        for d in sorted({*ranks, THRESHOLD}):
            place = (size["text"], size["token"], size["context"], d)
            found = errors.loc[place].to_dict() if place in errors.index else dict.fromkeys(ERRORS)
            rows.append(
                {
                    **{key: size[key] for key in [*SIZES, *RANKS]},
                    "dimensions": d,
                    **(dict.fromkeys(ERRORS, 0.0) if d >= size["v"] else found),
                }
            )
    return pd.DataFrame(rows).astype(dict.fromkeys([*RANKS, *ERRORS], float))


def dimensionality_page(table: pd.DataFrame, title: str, seen: int) -> Page:
    """Page with a section per kind of token and three rows per text and length of context."""
    sections = [
        Section(f"Of {TOKENS[str(token)]}, of which there are {part.v.iloc[0]:,}", _rows(part))
        for token, part in table.groupby("token", sort=False)
    ]
    return Page(title, sections, _legend(table, seen))


def _rows(part: pd.DataFrame) -> list[dict[str, Cell]]:
    rows = []
    for (text, context), own in part.groupby(["text", "context"], sort=False):
        first = own.iloc[0]
        for matrix, contexts, rank in (
            ("as counted", first.contexts, first.effective_rank),
            ("shuffled", first.contexts, first.effective_rank_shuffled),
            ("without noise", first.contexts_seen, None),
        ):
            row: dict[str, Cell] = {
                "text": str(text),
                "context": str(context),
                "matrix": matrix,
                "tokens": Value(first.tokens, decimals=0),
                "contexts": Value(contexts, decimals=0),
                "effective rank": Value(rank, decimals=1),
            }
            row |= {f"{at['dimensions']:,} ↓": _cell(at, matrix) for at in own.to_dict("records")}
            rows.append(row)
    return rows


def _cell(at: dict[Any, Any], matrix: str) -> Value:
    value = at[{"as counted": "w_error"}.get(matrix, matrix.replace(" ", "_"))]
    if matrix != "without noise" or at["dimensions"] >= at["v"]:
        return Value(value)
    return Value(value, None, at["without_noise_low"], at["without_noise_high"], decimals=3)


def _legend(table: pd.DataFrame, seen: int) -> list[str]:
    largest = int(table.v.max())
    reach = (
        f"With the {largest:,} byte pairs it can be looked up, but the models of this study read bytes"
        if largest > THRESHOLD
        else f"The largest vocabulary here has {largest:,} tokens"
    )
    return [
        "A row of the matrix is the distribution of the token that follows one context; all contexts that occur count "
        "alike. Under each number of dimensions d: the W-error, the Frobenius norm of what no matrix of rank d can say "
        "of it, as a share of the whole, ↓ lower is better. Effective rank: exp of the entropy of the singular values "
        "as shares of their sum",
        "A long context is rarely seen twice, and then looks as if one token alone could follow. Shuffled: the same "
        "contexts, as often as in the text, but the tokens after them permuted among each other, so that the truth has "
        "one dimension and the rest is noise of sampling. A W-error that is no higher than the shuffled one says "
        "nothing of the language, nor does a lower one say that it has few dimensions",
        "Without noise: the W-error of the distributions that the tokens were drawn from, of the contexts seen at "
        f"least {seen} times in each of two random halves of the text. The number is what the best d dimensions for "
        "one half lose of the other, and errs on the high side; [from what d dimensions lose that suit the whole text "
        "best, which errs on the low side, to that number, and 1.96 standard errors over contexts more on both sides]. "
        "Passages that a text repeats word for word count as language, and contexts seen often may need other numbers "
        "of dimensions than rare ones, of which nothing is known",
        "A head of d dimensions gives logits of rank d, and a matrix of probabilities may have more: the W-error says "
        "how much structure there is, and is no bound on the loss",
        f"Godey et al. (2024) see small models saturate below {THRESHOLD:,} dimensions. Bytes cannot test this: with "
        f"256 tokens no matrix has more than 256. {reach}",
    ]
