"""Dimensions of the language of a text, for each kind of token and each length of context."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array, vstack
from scipy.sparse.linalg import LinearOperator, eigsh

from oversmoothing.data.files import Files
from oversmoothing.data.reader import read_split
from oversmoothing.data.tokens.learn import tokenise
from oversmoothing.data.tokens.vocabulary import load_tokenizer
from oversmoothing.jobs import Job, run
from oversmoothing.numerics.singular_values import effective_rank
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from studies.language_dimensionality.ngrams import conditional_rows, count_contexts, count_ngrams

SPECTRA = pa.schema(
    [
        ("token", pa.string()),  # byte or byte pair
        ("context", pa.int32()),  # tokens
        ("d", pa.int32()),  # dimensions, from 1
        ("singular_value", pa.float64()),  # the d-th largest
        ("w_error", pa.float64()),  # remainder without the d largest
        ("shuffled", pa.float64()),  # the same after shuffling the tokens that follow the contexts
    ]
)
SIZES = pa.schema(
    [
        ("token", pa.string()),
        ("context", pa.int32()),
        ("v", pa.int32()),  # size of the vocabulary
        ("tokens", pa.int64()),  # of the text
        ("contexts", pa.int64()),  # distinct ones: rows of the matrix
        ("effective_rank", pa.float64()),  # null unless all singular values are known
        ("effective_rank_shuffled", pa.float64()),
    ]
)


def main(job: Job) -> None:
    """Read the beginning of a split or of the user's files; write singular values and matrix sizes."""
    settings, name = job.params.settings, job.wildcards.corpus
    if "manifest" in job.input.keys():  # noqa: SIM118 (Snakemake's named list iterates over files)
        data = read_split(job.input.text, job.input.manifest, name)[: settings["bytes"]]
    else:
        files = Files(settings["paths"], settings["column"])
        data = read_beginning(files, settings["separator"], settings["bytes"])
    texts = {"byte": (data, 256)}
    if job.input.tokenizer:
        tokenizer = load_tokenizer(job.input.tokenizer[0])
        tokens = tokenise(tokenizer, data.tobytes().decode("utf-8", errors="ignore"))
        texts["byte pair"] = (tokens, tokenizer.get_vocab_size())
    spectra, sizes = measure_texts(texts, settings["contexts"], settings["singular_values"], settings["seed"])
    made_by = provenance(settings, text=name)
    write_table(job.output.spectra, spectra, made_by)
    write_table(job.output.sizes, sizes, made_by)


def measure_texts(
    texts: Mapping[str, tuple[np.ndarray, int]], contexts: Sequence[int], largest: int, seed: int
) -> tuple[pa.Table, pa.Table]:
    """Measure the n-gram matrices of a text, and of the same text shuffled.

    `texts` are by kind of token: the text in these tokens, int (t,), and the size of their vocabulary. The other values
    are those of the section ``language`` of the config. The tables have the schemas `SPECTRA` and `SIZES`.
    """
    spectra, sizes = [], []
    for token, (tokens, v) in texts.items():
        for context in contexts:
            draw = np.random.default_rng((seed, v, context))
            keys, counts = count_ngrams(tokens, context + 1, v)
            counted = spectrum(conditional_rows(keys, counts, v), v, largest)
            shuffled = spectrum(conditional_rows(*count_ngrams(tokens, context + 1, v, shuffle=draw), v), v, largest)
            k = len(counted.values)
            columns = [[token] * k, [context] * k, np.arange(1, k + 1), counted.values]
            columns += [w_error(counted)[1:], w_error(shuffled)[1:]]
            spectra.append(pa.table([pa.array(column, from_pandas=True) for column in columns], names=SPECTRA.names))
            sizes.append(
                {
                    "token": token,
                    "context": context,
                    "v": v,
                    "tokens": len(tokens),
                    "contexts": count_contexts(keys, v),
                    "effective_rank": effective_rank(counted.values) if counted.complete else None,
                    "effective_rank_shuffled": effective_rank(shuffled.values) if shuffled.complete else None,
                }
            )
    return pa.concat_tables(spectra).cast(SPECTRA), pa.Table.from_pylist(sizes, schema=SIZES)


def read_beginning(files: Files, separator: str, most: int) -> np.ndarray:
    """Return the beginning of the joined documents of files, at most `most` bytes, as a uint8 array."""
    joined, between = bytearray(), separator.encode()
    for document in files:
        joined += (between if joined else b"") + document.text.encode()
        if len(joined) >= most:
            break
    return np.frombuffer(bytes(joined[:most]), np.uint8)


EXACT = 4096  # tokens up to which all singular values are found: the Gram matrix takes 134 MB then


class Spectrum(NamedTuple):
    """Singular values of a matrix W."""

    values: np.ndarray  # float64, the largest ones in decreasing order
    rest: float  # sum of the squares of the others
    complete: bool  # whether there are no others


def spectrum(blocks: Iterable[csr_array], v: int, largest: int, exact: int = EXACT) -> Spectrum:
    """Return the singular values of a matrix W of v columns given in blocks of rows.

    Up to v = `exact` all are found, from the Gram matrix W^T W, accumulated over the blocks; above, only the `largest`
    ones, at most v - 1, by Lanczos iterations on W, whose non-zeros are then all in memory. Values below the rounding
    error of W^T W are set to zero.
    """
    if v <= exact:
        gram = np.zeros((v, v))
        for block in blocks:
            gram += (block.T @ block).toarray()
        return Spectrum(_roots(eigvalsh(gram, overwrite_a=True, check_finite=False)), 0.0, True)
    matrix = vstack(list(blocks), format="csr")
    gram_map = LinearOperator((v, v), matvec=lambda x: matrix.T @ (matrix @ x), dtype=np.float64)
    # W is non-negative, so a start of ones is never orthogonal to the first singular vector.
    values = _roots(eigsh(gram_map, min(largest, v - 1), v0=np.ones(v), return_eigenvectors=False))
    rest = float(matrix.data @ matrix.data - values @ values)
    return Spectrum(values, max(rest, 0.0), False)


def w_error(singular: Spectrum) -> np.ndarray:
    """Return ||sigma_{d+1:}||_2 / ||W||_F for d = 0, 1, ..., k: the error of the best approximation to W of rank d.

    It is 1 at d = 0 and never increases; the last is 0 if the spectrum is complete.

    References
    ----------
    N. Godey, E. de la Clergerie, B. Sagot, "Why do small language models underperform?", 2024; C. Eckart and G. Young,
    "The approximation of one matrix by another of lower rank", Psychometrika 1936.
    """
    squares = np.append(singular.values**2, singular.rest)
    left = np.cumsum(squares[::-1])[::-1]  # summed from the smallest, to avoid cancellation
    return np.sqrt(left / left[0])


def _roots(squares: np.ndarray) -> np.ndarray:
    squares = np.sort(squares)[::-1]
    noise = len(squares) * np.finfo(np.float64).eps * squares[0]
    return np.sqrt(np.where(squares > noise, squares, 0.0))


if __name__ == "__main__":
    run(main)
