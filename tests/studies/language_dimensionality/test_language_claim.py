"""Whether the language needs more dimensions than heads have: planted languages, from their text to the verdict."""

from bisect import bisect

import numpy as np
import pytest

from oversmoothing.claims.analyses import Analyses
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge, judge_claim
from oversmoothing.tables.record import record
from studies.language_dimensionality.claims import language_needs_more
from studies.language_dimensionality.measure import measure_texts
from studies.language_dimensionality.table import by_dimensions, dimensionality_table

V = 400
RANKS = [4, 8, 32]
SIZES = [("v", 2048), ("contexts", 99), ("contexts_seen", 50)]


def written(rows, size):
    """Write a text in which the rows say what follows each token."""
    steps = np.cumsum(rows, axis=1).tolist()
    tokens = [0]
    for uniform in np.random.default_rng(0).random(size - 1).tolist():
        tokens.append(min(bisect(steps[tokens[-1]], uniform), len(steps) - 1))
    return np.array(tokens)


def low_rank():
    draw = np.random.default_rng(1)
    return draw.dirichlet(np.ones(3), V) @ draw.dirichlet(np.full(V, 0.02), 3)


def high_rank():
    """After each token come ten others, for each token other ones."""
    draw = np.random.default_rng(2)
    return sum(np.eye(V)[draw.permutation(V)] for _ in range(10)) / 10


def analyses(tokens, seen=2):
    spectra, sizes = measure_texts({"byte pair": (tokens, V)}, [1], largest=V, seen=seen, seed=0)
    spectra, sizes = (table.to_pandas().assign(text="train") for table in (spectra, sizes))
    table = dimensionality_table(sizes, spectra, RANKS)
    return Analyses({"language_dimensionality": table}, [], {}, Chance(200, 0, {}))


@pytest.mark.parametrize(
    ("rows", "size", "seen", "verdict"),
    [
        (high_rank(), 100_000, 2, HOLDS),
        (low_rank(), 200_000, 50, FAILS),
        (high_rank(), 1500, 2, OPEN),
        (low_rank(), 3000, 2, OPEN),
    ],
    ids=["many dimensions", "three dimensions", "little text of many", "little text of three"],
)
def test_a_planted_language_gets_its_verdict(rows, size, seen, verdict):
    found = language_needs_more(analyses(written(rows, size), seen))
    assert judge(found).verdict == verdict
    assert [comparison.name for comparison in found] == [
        f"W-error without noise at {rank} dimensions of {V}" for rank in RANKS
    ]


def test_a_shuffled_text_has_no_dimensions_though_its_w_error_is_as_high():
    tokens = np.random.default_rng(3).permutation(written(high_rank(), 20_000))
    shuffled = analyses(tokens)
    table = by_dimensions(shuffled.table("language_dimensionality")).set_index("dimensions")
    assert table.w_error[32] > 0.5
    assert table.w_error[32] == pytest.approx(table.shuffled[32], abs=0.02)
    assert all(comparison.low == 0 for comparison in language_needs_more(shuffled))


def test_with_a_handful_of_contexts_it_says_how_few_there_are():
    few = analyses(written(high_rank(), 300))
    with pytest.raises(Missing, match=r"too little text: \d of \d+ contexts of 1 byte pairs.*language\.seen"):
        language_needs_more(few)
    assert judge_claim(language_needs_more, few).verdict == OPEN


def test_it_is_read_at_the_longest_context_of_byte_pairs_in_the_training_text():
    rows = [
        {"text": text, "token": token, "context": context, "dimensions": d, "measure": measure, "value": value}
        for text, token, context, d, error in [
            ("train", "byte pair", 4, 4, 0.9),
            ("train", "byte pair", 4, 1000, 0.3),
            ("train", "byte pair", 4, 2048, 0.0),
            ("train", "byte pair", 1, 1000, 0.01),
            ("train", "byte", 4, 1000, 0.0),
            ("other", "byte pair", 4, 1000, 0.0),
        ]
        for d, measure, value in [(d, "without_noise", error), (d, "w_error", 1), *((None, *size) for size in SIZES)]
    ]
    table = record(rows).drop_duplicates(ignore_index=True)
    table = table.assign(low=table.value - 0.01, high=table.value + 0.01)
    found = language_needs_more(Analyses({"language_dimensionality": table}, [], {}, Chance(200, 0, {})))
    assert [(comparison.effect, comparison.low) for comparison in found] == [(0.9, 0.89), (0.3, 0.29)]
    assert judge(found).verdict == HOLDS
    of_bytes = table[table.token == "byte"]
    with pytest.raises(Missing, match=r"language\.vocabulary"):
        language_needs_more(Analyses({"language_dimensionality": of_bytes}, [], {}, Chance(200, 0, {})))
