"""Claims about samples: when each holds, fails and is left open; the thesis's means; and what a run's files say."""

import re
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from made_evidence import FILES, RANKS, UNSURE, Made

from oversmoothing.claims.claims import CLAIMS as OF_CORE
from oversmoothing.claims.comparison import Chance, Missing
from oversmoothing.claims.evidence import Run
from oversmoothing.claims.published import Published
from oversmoothing.claims.verdict import FAILS, HOLDS, OPEN, judge_claim
from oversmoothing.store.parquet import write_table
from studies.sample_quality.claims import CLAIMS, HUMAN, QUALITY
from studies.sample_quality.measure import QUALITY as SCHEMA
from studies.sample_quality.metrics import MEASURES

ROOT = Path(__file__).resolve().parents[3]
CONTRADICTED = {
    # claim: comparisons against it, of how many, the clearest, and its effect
    "decodings-write-shorter-words": (4, 28, "Word length, pure against greedy, rank 128", 4.855 - 9.030),
    "greedy-farthest-in-bytes": (1, 42, "Byte TV, top-p against pure, rank 8", 2 * (0.020 - 0.031)),
}


class Judged(Made):
    """Made evidence whose samples were judged, as those of a run, by window or as a set."""

    def value(self, source, member, metric, decoding):
        of_set = MEASURES[metric].of_set
        return self.made(
            metric, member, partial(QUALITY.printed, self, member, metric, decoding), decoding, of_set=of_set
        )


AS_PRINTED = Judged()
CASES = {
    # claim: evidence under which it holds, and under which it does not
    "low-ranks-write-long-words": (AS_PRINTED, Judged({("word_length", "pure", "8"): 4.9})),
    "low-ranks-write-few-valid-words": (AS_PRINTED, Judged({("valid_words", "pure", "human"): 0.5})),
    "low-ranks-far-in-bytes": (AS_PRINTED, Judged({("byte_tv", "pure", "512"): 0.1})),
    "low-ranks-low-mauve": (AS_PRINTED, Judged({("mauve", "pure", "8"): 0.95})),
    "quality-gains-diminish": (AS_PRINTED, Judged({("valid_words", "pure", "12"): 0.3})),
    "rank-12-only-looks-human": (AS_PRINTED, Judged({("word_length", "pure", "12"): 6.0})),
    "decodings-write-more-valid-words": (AS_PRINTED, Judged({("valid_words", "top-k", "32"): 0.7})),
    "decodings-write-shorter-words": (Judged({("word_length", "greedy", rank): 4.0 for rank in RANKS}), AS_PRINTED),
    "greedy-repeats-most": (AS_PRINTED, Judged({("bigram", "top-k", "32"): 0.95})),
    "top-k-repeats-more-than-nucleus": (AS_PRINTED, Judged({("bigram", "top-p", "32"): 0.2})),
    "repetition-rises-from-low-ranks": (AS_PRINTED, Judged({("bigram", "top-k", "12"): 0.01})),
    "greedy-farthest-in-bytes": (Judged({("byte_tv", "top-p", "8"): 0.065}), AS_PRINTED),
}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_can_hold_and_fail_and_be_left_open(claim):
    evidence = (*CASES[claim.id], Judged(uncertainty=UNSURE))
    assert [judge_claim(claim.test, each).verdict for each in evidence] == [HOLDS, FAILS, OPEN]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        # every part of a statement is tested
        ("quality-gains-diminish", Judged({("perplexity", "pure", "12"): 1900.0})),
        ("quality-gains-diminish", Judged({("mauve", "pure", "12"): 0.1})),
        ("quality-gains-diminish", Judged({("byte_tv", "pure", "12"): 0.2})),
        ("rank-12-only-looks-human", Judged({("word_length", "pure", "12"): 4.0})),
        ("rank-12-only-looks-human", Judged({("valid_words", "pure", "12"): 0.5})),
        ("rank-12-only-looks-human", Judged({("perplexity", "pure", "12"): 30.0})),
        ("rank-12-only-looks-human", Judged({("mauve", "pure", "12"): 1.1})),
        (
            "greedy-farthest-in-bytes",
            Judged({("byte_tv", "temperature", "512"): 0.4, ("byte_tv", "top-p", "8"): 0.065}),
        ),
    ],
)
def test_every_part_of_a_statement_counts(claim, evidence):
    assert judge_claim(next(known.test for known in CLAIMS if known.id == claim), evidence).verdict == FAILS


def test_the_printed_means_contradict_two_claims_as_one_can_read_off():
    verdicts = {claim.id: judge_claim(claim.test, Published(FILES)) for claim in CLAIMS}
    expected = dict.fromkeys(verdicts, HOLDS) | dict.fromkeys(CONTRADICTED, FAILS)
    assert {name: verdict.verdict for name, verdict in verdicts.items()} == expected
    for name, (*counts, effect) in CONTRADICTED.items():
        verdict = verdicts[name]
        assert [verdict.against, verdict.comparisons, verdict.weakest.name] == counts
        assert verdict.weakest.effect == pytest.approx(effect)
    assert verdicts["rank-12-only-looks-human"].weakest.effect == pytest.approx(4.836 - 5.068)


def test_the_findings_count_what_the_tables_do_not_bear_out():
    page = " ".join((ROOT / "docs/findings.md").read_text().split())
    counted = re.search(r"(\w+) of the thesis's sentences are not borne out by its tables", page)
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    verdicts = [judge_claim(claim.test, Published(FILES)).verdict for claim in [*OF_CORE, *CLAIMS]]
    assert words.index(counted.group(1)) == verdicts.count(FAILS)


def rows(decoding, metric, values, of_set=False):
    """Rows of a file of quality: by window or, of a set, its value and those of its draws."""
    places = [None, *range(len(values) - 1)] if of_set else range(len(values))
    key = "resample" if of_set else "window"
    other = {"window": None, "resample": None, "note": None}
    return [
        {**other, "decoding": decoding, "metric": metric, key: i, "value": value}
        for i, value in zip(places, values, strict=True)
    ]


@pytest.fixture
def run(tmp_path):
    none = {"decoding": "pure", "metric": "mauve", "note": "8 samples; MAUVE needs at least 100"}
    tables = {
        "bn4": [*rows("pure", "word_length", [4.0, 6.0]), *rows("pure", "byte_tv", [0.3, 0.4, 0.5], of_set=True), none],
        "human": [
            *(*rows("first", "word_length", [5.0]), *rows("second", "word_length", [9.0])),
            *(*rows("first", "byte_tv", [0.0], of_set=True), *rows("second", "byte_tv", [0.1], of_set=True)),
        ],
    }
    for name, of_model in tables.items():
        write_table(tmp_path / f"{name}.parquet", pa.Table.from_pylist(of_model, schema=SCHEMA), {})
    files = {("quality", "bn4"): tmp_path / "bn4.parquet", ("human_quality", ""): tmp_path / "human.parquet"}
    models = [{"model": "bn4", "kind": "family", "rank": 4, "role": 4, "training": "bn4"}]
    return Run(files, models, ["pure"], Chance(200, 0, {}))


def test_a_run_answers_by_window_or_as_a_set(run):
    (member,) = run.family
    lengths, distance = (run.value(QUALITY, member, metric, "pure") for metric in ("word_length", "byte_tv"))
    assert (lengths.mean, lengths.n, lengths.kind) == (5.0, 2, "word_length")
    assert distance.mean == 0.3
    assert [own.tolist() for own in distance.draws] == [[0.4, 0.5]]


def test_people_are_the_first_set_and_as_a_set_the_second(run):
    assert run.value(QUALITY, HUMAN, "word_length", "pure").mean == 5.0
    assert run.value(QUALITY, HUMAN, "byte_tv", "pure").mean == 0.1


@pytest.mark.parametrize(
    ("metric", "decoding", "message"),
    [
        ("mauve", "pure", "no MAUVE under pure: 8 samples; MAUVE needs at least 100"),
        ("word_length", "greedy", "bn4 has no samples under greedy"),
    ],
)
def test_what_a_run_lacks_is_said(run, metric, decoding, message):
    with pytest.raises(Missing, match=message):
        run.value(QUALITY, run.family[0], metric, decoding)
