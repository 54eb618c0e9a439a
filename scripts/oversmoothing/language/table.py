"""From singular values of n-gram matrices to a table: what a head of so many dimensions must lose of a language."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from oversmoothing.layout import latex_text, number, write_latex_tables, write_page

THRESHOLD = 1000  # dimensions below which Godey et al. (2024) see small models saturate
TOKENS = {"byte": "bytes", "byte pair": "byte pairs"}


def dimensionality_table(sizes: pd.DataFrame, spectra: pd.DataFrame, ranks: Sequence[int]) -> pd.DataFrame:
    """Read off the W-error at the family's ranks.

    Parameters
    ----------
    sizes, spectra : DataFrame
        Of schemas `measure.SIZES` and `measure.SPECTRA`, and ``text``.
    ranks : sequence of int
        Of the family; 1,000 is added.

    Returns
    -------
    DataFrame
        One row per text, kind of token, length of context and ``dimensions``; ``w_error`` is 0 from v dimensions on,
        and missing where so many singular values were not found. ``effective_rank`` belongs to the whole matrix.
    """
    errors = spectra.set_index(["text", "token", "context", "d"]).w_error
    rows = []
    for size in sizes.to_dict("records"):
        for d in sorted({*ranks, THRESHOLD}):
            found = errors.get((size["text"], size["token"], size["context"], d))
            rows.append(
                {
                    **{key: size[key] for key in ("text", "token", "context", "v", "tokens", "contexts")},
                    "effective_rank": size["effective_rank"],
                    "dimensions": d,
                    "w_error": 0.0 if d >= size["v"] else found,
                }
            )
    return pd.DataFrame(rows).astype({"effective_rank": float, "w_error": float})


def write_pages(table: pd.DataFrame, paths: Sequence[str | Path], title: str) -> None:
    """Write the table to be read: a section per kind of token, a row per text and length of context."""
    write_page(paths, title, [(heading, wide) for heading, wide in _sections(table, "-")], _legend(table))


def write_latex(table: pd.DataFrame, path: str | Path, title: str) -> None:
    """Write the same as LaTeX tables, one per kind of token."""
    tables = []
    for heading, wide in _sections(table, "--"):
        wide["text"] = wide["text"].map(latex_text)
        tables.append((wide, f"{title} {heading}. {_legend(table)}"))
    write_latex_tables(path, tables)


def _sections(table: pd.DataFrame, none: str) -> list[tuple[str, pd.DataFrame]]:
    return [
        (f"Of {TOKENS[str(token)]}, of which there are {part.v.iloc[0]:,}", _wide(part, none))
        for token, part in table.groupby("token", sort=False)
    ]


def _wide(part: pd.DataFrame, none: str) -> pd.DataFrame:
    rows = []
    for (text, context), own in part.groupby(["text", "context"], sort=False):
        first = own.iloc[0]
        row = {
            "text": text,
            "context": str(context),
            "tokens": f"{first.tokens:,}",
            "contexts": f"{first.contexts:,}",
            "effective rank": none if pd.isna(first.effective_rank) else f"{first.effective_rank:.1f}",
        }
        for d, error in zip(own.dimensions, own.w_error, strict=True):
            row[f"{d:,} ↓"] = none if pd.isna(error) else number(error)
        rows.append(row)
    return pd.DataFrame(rows)


def _legend(table: pd.DataFrame) -> str:
    largest = int(table.v.max())
    reach = (
        f"With the {largest:,} byte pairs it can be looked up, but the models of this study read bytes"
        if largest > THRESHOLD
        else f"The largest vocabulary here has {largest:,} tokens"
    )
    parts = [
        "A row of the matrix is the distribution of the token that follows one context; all contexts that occur count "
        "alike. Under each number of dimensions d: the W-error, the Frobenius norm of what no matrix of rank d can say "
        "of it, as a share of the whole, ↓ lower is better. Effective rank: exp of the entropy of the singular values "
        "as shares of their sum",
        "A long context is rarely seen twice, and then looks as if one token alone could follow: the fewer tokens "
        "there are for each context, the more is noise of sampling, so compare texts of like size",
        "A head of d dimensions gives logits of rank d, and a matrix of probabilities may have more: the W-error says "
        "how much structure there is, and is no bound on the loss",
        f"Godey et al. (2024) see small models saturate below {THRESHOLD:,} dimensions. Bytes cannot test this: with "
        f"256 tokens no matrix has more than 256. {reach}",
    ]
    return ". ".join(parts) + "."
