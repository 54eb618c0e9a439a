"""The table of known laws, on numbers from which it follows by hand."""

import numpy as np
import pandas as pd
import pytest

from oversmoothing.tables.formats import markdown
from oversmoothing.tables.record import chosen
from studies.known_law.finding import hidden, with_more_text
from studies.known_law.laws import LAW
from studies.known_law.show import draw
from studies.known_law.table import FURTHER, OF_EXCESS, TESTED, known_law_page, known_law_table

LAWS = [{"law": "full", "rank": None, "decoding": {"name": "pure"}}]
TEXTS = {"full-100": 100, "full-400": 400}
SEEDS = (1, 2, 3)


def learner(text, rank, seed):
    arm, kind = (f"bn{rank}", "family") if rank else ("truth", "truth")
    facts = {"model": f"{arm}-s{seed}", "kind": kind, "rank": rank, "seed": seed, "arm": arm}
    return {"law": "full", "sequences": TEXTS[text], "text": text, **facts}


LEARNERS = [learner(text, rank, seed) for text in TEXTS for rank in (4, 16) for seed in SEEDS]
LEARNERS += [learner("full-100", None, seed) for seed in (11, 12)]
STAND_INS = [{"truth": f"truth-s{seed}", "stand_ins": "stand-ins", "model": f"truth-s{seed}"} for seed in (11, 12)]
STAND_INS += [{**row, **{key: f"{row[key]} at 0.8" for key in ("truth", "stand_ins")}} for row in STAND_INS]


def score(row, truth):
    """KL of 0.5 + 2 / sqrt(sequences), of which 0.5 is forced at rank 4; stand-ins see .03 of TTO less.

    At a temperature of 0.8 they see .06 more, at rank 16 .08.
    """
    forced = 0.5 if row["rank"] == 4 else 0.0
    rest = 2 / np.sqrt(row["sequences"]) + 0.01 * row["seed"]
    hidden = 0.0 if truth == "law" else 0.02 if truth == "truth-s11" else 0.04
    if truth.endswith(" at 0.8"):
        hidden = -0.08 if row["rank"] == 16 else -0.06
    values = {"forced": forced, "rest": rest, "kl": forced + rest, "tto": 0.1 + 0.01 * row["seed"] - hidden}
    own = row["kind"] == "family" and truth == LAW
    values |= dict.fromkeys(FURTHER, 0.2 + 0.01 * row["seed"] if own else np.nan)
    return {"text": row["text"], "model": row["model"], "truth": truth, "tv": 0.2, "nsmd": 0.1, **values}


@pytest.fixture(scope="module")
def table():
    scores = []
    for row in LEARNERS:
        truths = [LAW, *(of["truth"] for of in STAND_INS)] if row["text"] == "full-100" else [LAW]
        scores += [score(row, truth) for truth in truths]
    return known_law_table(pd.DataFrame(scores), LEARNERS, STAND_INS)


def cell(table, measure, rank=4, sequences=100, truth="law", less=None, column="value"):
    means = table[table.seed.isna()]
    (value,) = chosen(means, measure=measure, rank=rank, sequences=sequences, truth=truth, less=less)[column]
    return value


def test_levels_are_means_over_seeds_and_against_the_stand_ins_over_these(table):
    assert cell(table, "tto") == pytest.approx(0.12)
    assert cell(table, "tto", truth="stand-ins") == pytest.approx(0.09)
    assert cell(table, "kl") == pytest.approx(cell(table, "forced") + cell(table, "rest"))
    assert cell(table, "tto", column="n") == 3
    # What a stand-in hides is paired by seed.
    assert cell(table, "tto", truth="stand-ins", less="law") == pytest.approx(-0.03)
    high = cell(table, "tto", truth="stand-ins", less="law", column="high")
    assert high == pytest.approx(-0.03)  # the same for every seed
    assert cell(table, "kl", truth="stand-ins", less="law") == pytest.approx(0, abs=1e-12)


def test_what_claims_are_tested_on_has_a_row_for_each_seed(table):
    for measure in TESTED:
        by_seed = chosen(table, measure=measure, rank=16, sequences=100, truth="law", less=None).dropna(subset="seed")
        assert by_seed.seed.tolist() == [*SEEDS]
    assert by_seed.value.tolist() == pytest.approx([0.21, 0.22, 0.23])
    assert cell(table, "own_tto") == pytest.approx(0.22)


def test_excesses_are_over_the_highest_rank_and_need_no_stand_in(table):
    assert cell(table, "kl", sequences=400, less="rank 16") == pytest.approx(0.5)
    same = cell(table, "tto", truth="stand-ins", less=OF_EXCESS)  # all ranks hide the same
    assert same == pytest.approx(0, abs=1e-12)
    assert chosen(table, rank=16, less="rank 16").empty


def test_each_kind_of_stand_ins_is_a_truth_of_its_own(table):
    def shown(rank, less):
        return cell(table, "tto", rank=rank, truth="stand-ins at 0.8", less=less)

    assert [shown(rank, "law") for rank in (4, 16)] == [pytest.approx(0.06), pytest.approx(0.08)]
    assert shown(4, OF_EXCESS) == pytest.approx(-0.02)
    assert "TTO hidden by stand-ins at 0.8" in markdown(known_law_page(table, LAWS))


def test_a_stand_in_is_held_against_the_others_and_not_against_itself(table):
    rows = chosen(table, arm="truth", measure="tto", truth="stand-ins", less=None)
    assert rows.value.tolist() == [pytest.approx((0.1 + 0.11 - 0.04 + 0.1 + 0.12 - 0.02) / 2)]
    assert rows.n.tolist() == [2]
    read = chosen(table, arm="truth", measure="tto", truth="stand-ins at 0.8", less=None)
    assert read.value.tolist() == [pytest.approx(0.1 + 0.115 + 0.06)]  # nor against itself at a temperature


def test_with_more_text_the_rest_falls_and_the_forced_part_stays(table):
    assert cell(table, "forced_limit", sequences=400) == pytest.approx(0.5)
    assert cell(table, "rest_limit", sequences=400) == pytest.approx(0.02)  # what does not depend on the text
    assert cell(table, "rest_limit", sequences=400, column="n") == 3  # paired by seed


def test_the_legend_tells_a_second_bar_from_the_first_where_one_is_drawn(table):
    assert "400 sequences" in markdown(known_law_page(table, LAWS))
    for lengths, beside in ((table, True), (table[table.sequences != 400], False)):
        figure = draw(lengths, LAWS)
        (legend,) = figure.legends
        assert figure.axes[0].get_title(loc="left") == "Law: full"
        assert any("right of two bars" in text.get_text() for text in legend.texts) == beside


def test_the_chapter_says_what_the_table_says(table):
    said = [*hidden(table), *with_more_text(table)]
    assert any(sentence.startswith("Held against `stand-ins at 0.8`, TTO minus that against") for sentence in said)
    start = "Held against models that learned the same text, TTO minus that against the law itself is -0.03"
    assert said[0].startswith(start)
    assert "at rank 16 (law full)" in said[0]
    forced = "At rank 4, of KL to the law full (nats a byte), the head forces 0.5"
    assert any(sentence.startswith(forced) and "with 400 sequences" in sentence for sentence in said)
