"""The table of known laws, on numbers from which it follows by hand."""

from itertools import chain

import numpy as np
import pandas as pd
import pytest

from oversmoothing.bat.basis import prepare
from oversmoothing.tables.formats import markdown
from studies.known_law.correlations import correlations
from studies.known_law.figure import draw
from studies.known_law.finding import hidden, on_trial, with_more_text
from studies.known_law.page import known_law_page
from studies.known_law.table import MEASURES, at_harm, known_law_table, limit, paired
from studies.known_law.trial import rejections, sums

LAWS = [{"law": "full", "rank": None, "decoding": {"name": "pure"}}]
TEXTS = {"full-100": 100, "full-400": 400}
SEEDS = (1, 2, 3)


def learner(text, rank, seed):
    facts = {"model": f"bn{rank}-s{seed}", "kind": "family", "rank": rank, "seed": seed, "arm": f"bn{rank}"}
    return {"law": "full", "sequences": TEXTS[text], "text": text, "stand_in": False, **facts}


def stand_in(seed):
    facts = {"model": f"truth-s{seed}", "kind": "truth", "rank": None, "seed": seed, "arm": "truth"}
    return {"law": "full", "sequences": 100, "text": "full-100", "stand_in": True, **facts}


LEARNERS = [learner(text, rank, seed) for text in TEXTS for rank in (4, 16) for seed in SEEDS]
LEARNERS += [stand_in(11), stand_in(12)]


def score(row, truth):
    """KL of 0.5 + 2 / sqrt(sequences), of which 0.5 is forced at rank 4; stand-ins see .03 of TTO less."""
    forced = 0.5 if row["rank"] == 4 else 0.0
    rest = 2 / np.sqrt(row["sequences"]) + 0.01 * row["seed"]
    hidden = 0.0 if truth == "law" else 0.02 if truth == "truth-s11" else 0.04
    values = {"forced": forced, "rest": rest, "kl": forced + rest, "tto": 0.1 + 0.01 * row["seed"] - hidden}
    return {"text": row["text"], "model": row["model"], "truth": truth, "tv": 0.2, "nsmd": 0.1, **values}


@pytest.fixture(scope="module")
def table():
    scores = []
    for row in LEARNERS:
        truths = ["law", "truth-s11", "truth-s12"] if row["text"] == "full-100" else ["law"]
        scores += [score(row, truth) for truth in truths]
    return known_law_table(pd.DataFrame(scores), pd.DataFrame(), pd.DataFrame(), LEARNERS)


def cell(table, measure, rank=4, sequences=100, truth="law", column="value"):
    rows = table[(table.measure == measure) & (table["rank"] == rank) & (table.sequences == sequences)]
    (value,) = rows[rows.truth.isna() if truth is None else rows.truth == truth][column]
    return value


def test_levels_are_means_over_seeds_and_against_the_stand_ins_over_these(table):
    assert cell(table, "tto") == pytest.approx(0.12)
    assert cell(table, "tto", truth="stand-ins") == pytest.approx(0.09)
    assert cell(table, "kl") == pytest.approx(cell(table, "forced") + cell(table, "rest"))
    assert cell(table, "tto", column="n") == 3


def test_what_a_stand_in_hides_is_paired_by_seed(table):
    assert cell(table, "tto_bias", truth=None) == pytest.approx(-0.03)
    assert cell(table, "tto_bias", truth=None, column="high") == pytest.approx(-0.03)  # the same for every seed
    assert cell(table, "kl_bias", truth=None) == pytest.approx(0, abs=1e-12)


def test_excesses_are_over_the_highest_rank_and_need_no_stand_in(table):
    assert cell(table, "kl_excess") == pytest.approx(0.5)
    assert cell(table, "kl_excess", sequences=400) == pytest.approx(0.5)
    assert cell(table, "tto_excess_bias", truth=None) == pytest.approx(0, abs=1e-12)  # all ranks hide the same
    assert not ((table.measure == "kl_excess") & (table["rank"] == 16)).any()


def test_a_stand_in_is_held_against_the_others_and_not_against_itself(table):
    rows = table[(table.arm == "truth") & (table.measure == "tto") & (table.truth == "stand-ins")]
    assert rows.value.tolist() == [pytest.approx((0.1 + 0.11 - 0.04 + 0.1 + 0.12 - 0.02) / 2)]
    assert rows.n.tolist() == [2]


def test_with_more_text_the_rest_falls_and_the_forced_part_stays(table):
    assert cell(table, "forced_octaves", sequences=400) == pytest.approx(0)
    assert cell(table, "forced_limit", sequences=400) == pytest.approx(0.5)
    assert cell(table, "rest_limit", sequences=400) == pytest.approx(0.02)  # what does not depend on the text
    assert cell(table, "rest_octaves", sequences=400) < -0.5
    assert not ((table.measure == "forced_octaves") & (table["rank"] == 16)).any()  # of 0 there is no ratio


@pytest.mark.parametrize(("c", "b", "ratio"), [(0.3, 2.0, 4), (0.0, 1.0, 4), (-0.1, 5.0, 2.5)])
def test_the_limit_is_that_of_a_law_in_the_root_of_the_text(c, b, ratio):
    n = np.array([100.0, 900.0])
    assert limit(c + b / np.sqrt(n), c + b / np.sqrt(ratio * n), ratio) == pytest.approx([c, c])


def test_only_seeds_with_both_lengths_are_paired():
    rows = pd.DataFrame({"seed": [1, 2, 1], "sequences": [100, 100, 400], "rest": [3.0, 4.0, 2.0]})
    short, long = paired(rows, "rest", 100, 400)
    assert (short.tolist(), long.tolist()) == ([3.0], [2.0])


def test_the_page_and_the_figure_have_each_law(table):
    text = markdown(known_law_page(table, LAWS))
    assert "Law `full` (as it is, pure sampling), 100 sequences" in text
    assert "400 sequences" in text
    assert "nan" not in text
    assert draw(table, LAWS).axes[0].get_title(loc="left") == "Law: full"
    assert set(MEASURES) <= set(table.measure)


def test_the_chapter_says_what_the_table_says(table):
    said = list(chain(hidden(table), with_more_text(table), on_trial(table)))
    start = "Held against models that learned the same text, TTO minus that against the law itself is -0.03"
    assert said[0].startswith(start)
    assert "at rank 16 (law full)" in said[0]
    forced = "At rank 4, of KL to the law full (nats a byte), the head forces 0.5"
    assert any(sentence.startswith(forced) and "with 400 sequences" in sentence for sentence in said)
    assert list(on_trial(table)) == []


def test_rivals_are_read_at_equal_harm():
    harm, caught = pd.Series([0.2, 0.1]), pd.Series([0.9, 0.5])
    assert at_harm(harm, caught, 0.1) == 0.5
    assert at_harm(harm, caught, 0.15) == pytest.approx(0.7)
    assert at_harm(harm, caught, 0.05) == pytest.approx(0.25)
    assert at_harm(harm, caught, 0.0) == 0


def test_sums_of_a_rejection():
    p, law = np.array([[0.5, 0.3, 0.2]]), np.array([[0.9, 0.1, 0.0]])
    both, possible = np.array([[False, True, True]]), np.array([[False, True, False]])
    assert sums(p, law, both) == pytest.approx({"impossible": 0.2, "caught": 0.2, "harm": 0.1})
    assert sums(p, law, possible) == pytest.approx({"impossible": 0.2, "caught": 0.0, "harm": 0.1})


def test_a_trial_gives_mass_what_is_caught_and_harm_by_arm():
    learners = [{**learner("full-100", 4, seed)} for seed in SEEDS]
    of_model = {"window": 0, "of": "model", "n": 100, "impossible": 20.0}
    trials = pd.DataFrame(
        [
            {"text": "full-100", "model": row["model"], **of_model, "method": method, "parameter": value, **counted}
            for row in learners
            for method, value, counted in (
                ("bat", 0.22, {"caught": 5.0, "harm": 1.0}),
                ("top-p", 0.9, {"caught": 15.0, "harm": 2.0}),
                ("top-p", 0.99, {"caught": 9.0, "harm": 1.0}),
            )
        ]
    )
    scores = pd.DataFrame([score(row, "law") for row in learners])
    seen = pd.DataFrame(
        {
            "text": "full-100",
            "model": row["model"],
            "tto": 0.1 * row["seed"],
            "nsmd": 0,
            "tv": 0,
            "kl": 1,
            "tbat": np.nan,
        }
        for row in learners
    )
    table = known_law_table(scores, trials, seen, learners)
    values = table.set_index(["measure", "decoding"]).value
    assert values["impossible"].iloc[0] == pytest.approx(0.2)
    assert values["harm", "bat 0.22"] == pytest.approx(0.01)
    assert values["caught", "bat 0.22"] == pytest.approx(0.25)
    assert values["caught", "top-p"] == pytest.approx(0.45)
    assert cell(table, "tto_correlation") == pytest.approx(0.2)
    assert not (table.measure == "tbat_correlation").any()
    text = markdown(known_law_page(table, LAWS))
    assert "caught by top-p" in text
    assert "mass on impossible bytes: full" in text


def test_rank_correlations_by_hand():
    masses = pd.DataFrame({"window": 0, "position": range(4), "impossible": [0.0, 0.1, 0.2, 0.4]})
    order = masses.iloc[::-1].assign(
        up=[9.0, 3.0, 2.0, 1.0], down=[1.0, 2.0, 3.0, 4.0], mixed=[3.0, 4.0, 1.0, 2.0], same=5
    )
    found = correlations(masses, dict.fromkeys(("up", "down", "mixed", "same"), order))
    assert found == pytest.approx({"up": 1, "down": -1, "mixed": 0.6, "same": np.nan}, nan_ok=True)
    of_three = correlations(masses, {"up": order[order.position > 0]})
    assert of_three == pytest.approx({"up": 1})


def test_bat_rejects_nothing_of_a_full_head_and_rivals_what_they_say():
    p = np.array([[0.6, 0.3, 0.06, 0.04]])
    made = {(name, value): rejected for name, value, rejected in rejections(prepare(np.eye(4)), p, [0.22])}
    assert not made["bat", 0.22].any()
    assert made["top-p", 0.85].tolist() == [[False, False, True, True]]
    assert made["min-p", 0.3].tolist() == [[False, False, True, True]]
