"""The ladder's plan, its tables by hand, predictions and what came of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from default_config import ROOT, default
from step_jobs import job, outputs

from oversmoothing.store.layout import read_csv, write_csv
from oversmoothing.store.parquet import write_table
from oversmoothing.tables.record import chosen, read_record, record, written
from studies.forced_part.added import ADDED, LESS
from studies.size_ladder import outcomes, plan
from studies.size_ladder.elsewhere import READ, WEIGHTS, of_ladder, of_thesis, of_workstation
from studies.size_ladder.figure import draw
from studies.size_ladder.finding import hits, shares_by_size
from studies.size_ladder.law import Law
from studies.size_ladder.outcomes import CAME, outcomes_page, outcomes_table
from studies.size_ladder.parts import BEHIND_NORM, EFFECTIVE_RANK, FREE, OWN, THERE, reported
from studies.size_ladder.predict import LAW, PREDICTIONS, predictions
from studies.size_ladder.table import BEST, FORCED, REST, STOPPED, TRAINED, ladder_page, ladder_table

SIZES = [
    {"width": 16, "layers": 1, "heads": 2, "seeds": [1, 2], "ranks": [4]},
    {"width": 32, "layers": 1, "heads": 2, "seeds": [1, 2], "ranks": [4]},
    {"width": 64, "layers": 2, "heads": 2, "seeds": [1], "ranks": [4], "held_out": True},
]
OF_TEXT = {1800: 0.0, 3600: -0.3}  # by which more text lowers all losses
RAISED = {4: 0.8, 16: 0.0, 32: 0.0, 64: 0.0}  # a rank's loss above that of full rank
WINDOWS = range(4)
PRINTED = {"losses": ROOT / "resources/published/table_3_1.csv", "leaks": ROOT / "resources/published/table_4_1.csv"}


@pytest.fixture(scope="module")
def config():
    section = {**default()["size_ladder"], "sizes": SIZES, "steps": [1800, 3600], "controls": [450], "truth": "stays"}
    training = {**default()["training"], "decay": "stable", "snapshots": False, "max_steps": 3600}
    truths = [{"name": "stays", "model": {}}]
    studies = ["forced_part", "leak_at_equal_loss", "size_ladder"]
    return default(size_ladder=section, training=training, truths=truths, studies=studies)


def loss_of(row):
    return 1.5 - 0.1 * (row["width"] > 16) + OF_TEXT.get(row["steps"], 1.2) + RAISED[row["rank"]] + 0.01 * row["seed"]


def measured(rows):
    """Values by hand: TTO is a tenth of the loss, KL half; heads of rank 4 force 0.2 of KL, norms 0.02 more.

    Best heads force 0.15, and the full head itself 0.01.
    """
    found = []
    for row in rows:
        known = {"model": row["model"], "size": row["size"]}
        loss = loss_of(row)
        found += [
            {**known, "measure": "validation_loss", "value": loss + 0.05, "n": 1},
            {**known, "measure": EFFECTIVE_RANK, "value": 0.9 * row["rank"], "n": 9},
        ]
        for window in WINDOWS:
            here = {**known, "window": window, "n": 10 * (1 + window % 2)}
            off = 0.1 * (window - 2)
            found.append({**here, "measure": "loss", "value": loss + off})
            for truth in [*row["truths"], "stays"]:
                against = {**here, "truth": truth}
                values = {"tto": loss / 10, "nsmd": loss / 10, "tv": loss / 5, "kl": loss / 2 + off}
                found += ({**against, "measure": name, "value": value} for name, value in values.items())
                if reported(window):
                    forced = 0.2 if row["rank"] == 4 else 0.01
                    parts = {THERE: loss / 2, FREE: forced, BEHIND_NORM: forced + 0.02 * (row["rank"] == 4)}
                    found += ({**against, "n": 5, "measure": name, "value": value} for name, value in parts.items())
    return pd.DataFrame(found)


def best_of(fitted):
    rows = [
        {"size": of["size"], "truth": of["truth"], "rank": of["rank"], "window": window, "value": 0.15, "n": 5}
        for of in fitted
        for window in WINDOWS
        if reported(window)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def ladder(config):
    rows, rungs = plan.rows(config, False), plan.rungs(config, False)
    return ladder_table(measured(rows), best_of(plan.best_heads(config)), rows, rungs, "stays")


@pytest.fixture(scope="module")
def held_out(config):
    rows, rungs = plan.rows(config, True), plan.rungs(config, True)
    return ladder_table(measured(rows), best_of(plan.best_heads(config)), rows, rungs, "stays")


def test_the_plan_has_all_ranks_at_all_steps_and_controls_of_full_rank(config):
    names = {row["arm"] for row in plan.rows(config, False) if row["size"] == "w16x1"}
    assert names == {"bn4-1800steps", "bn4-3600steps", "bn16-1800steps", "bn16-3600steps", "bn16-450steps"}
    (full,) = (row for row in plan.rows(config, False) if row["model"] == "bn16-450steps-s1")
    assert full["truths"] == ["bn16-1800steps-s11", "bn16-3600steps-s11"]
    (narrow,) = (
        row for row in plan.rows(config, False) if (row["model"], row["size"]) == ("bn4-1800steps-s1", "w32x1")
    )
    assert narrow["truths"] == ["bn32-1800steps-s11"]
    assert (narrow["weights"], narrow["bytes"]) == (12 * 32**2, 1800 * 2 * 256)
    assert {row["size"] for row in plan.rows(config, True)} == {"w64x2"}
    assert [place["place"] for place in plan.law_settings(config)["places"]] == ["w64x2-1800steps", "w64x2-3600steps"]
    assert {of["text"] for of in plan.best_heads(config)} == {"ladder/w16x1/", "ladder/w32x1/", "ladder/w64x2/", ""}
    models = plan.learners(config, plan.sizes(config)[0])
    (work,) = plan.work(config)
    assert work["count"] == (8 + 2 + 2 + 4 + 1) + (8 + 2 + 2 + 4 + 1) + (4 + 1 + 2 + 2 + 1)
    assert models["bn4-1800steps-s1"].settings["model"]["width"] == 16


def test_settings_of_parts_are_those_of_rungs_alone(config):
    size = plan.sizes(config)[0]
    models = plan.learners(config, size)
    control, rung = (plan.measure_settings(config, size, models[f"bn16-{steps}steps-s1"]) for steps in (450, 1800))
    assert (control["parts"], rung["parts"]) == (None, 40)
    assert rung["truths"] == ["bn16-1800steps-s11", "bn16-3600steps-s11", "stays"]


def test_nothing_of_a_size_held_out_is_made_for_the_predictions(config):
    starts = {of["start"][0] for of in plan.best_heads(config) if of["size"] in (None, "w16x1", "w32x1")}
    assert starts == {"ladder/w16x1/", "ladder/w32x1/"}


def test_sizes_held_out_are_measured_beside_a_ladder_and_predictions_made_before(config):
    before = {"ladder": "ladder.csv", "predictions": "predictions.parquet"}
    later = {**config, "size_ladder": {**config["size_ladder"], **before}}
    assert [size.name for size in plan.sizes(later)] == ["w64x2"]
    assert plan.rows(later, True) == plan.rows(config, True)
    assert plan.files(later) == {f"size_ladder.{name}": file for name, file in before.items()}
    assert list(plan.mistakes(later)) == []


def test_a_size_to_be_measured_later_is_predicted_and_not_trained(config):
    sizes = [*SIZES[:2], {**SIZES[2], "held_out": "later"}]
    later = {**config, "size_ladder": {**config["size_ladder"], "sizes": sizes}}
    assert [size.name for size in plan.sizes(later)] == ["w16x1", "w32x1"]
    assert plan.law_settings(later) == plan.law_settings(config)
    assert list(plan.mistakes(later)) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ladder": "ladder.csv"}, "name them in size_ladder.predictions too"),
        ({"ladder": "a.csv", "predictions": "a.parquet", "sizes": SIZES[:2]}, "held_out: true are measured; write it"),
        ({"truth": "none"}, "size_ladder.truth: no truth is called 'none'; use one of stays"),
        ({"steps": []}, "size_ladder.steps"),
        ({"controls": [1800]}, "size_ladder.controls: 1800 is one of size_ladder.steps"),
        ({"truth_seed": 2}, "size_ladder.truth_seed: 2 is a seed of w16x1"),
        ({"sizes": [SIZES[0], SIZES[0]]}, "two have a width of 16 and 1 layers"),
        ({"sizes": [{**SIZES[0], "heads": 3}]}, "3 heads do not divide the width 16"),
        ({"sizes": [{**SIZES[0], "ranks": [16]}]}, "rank 16 is no lower than the width 16"),
        ({"sizes": [SIZES[2]]}, "all are held_out"),
        ({"controls": [150]}, "begins before the warm-up"),
    ],
)
def test_mistakes_name_their_key(config, changes, words):
    assert list(plan.mistakes(config)) == []
    changed = {**config, "size_ladder": {**config["size_ladder"], **changes}}
    assert words in "\n".join(plan.mistakes(changed))


def value(table, **where):
    (row,) = chosen(table, **where).to_dict("records")
    return row


def test_differences_and_parts_are_paired_by_seed_and_truth(ladder):
    table, by_seed = ladder
    at = {"weights": 12 * 16**2, "step": 1800, "rank": 4}
    assert value(table, **at, measure="loss", less=LESS)["value"] == pytest.approx(0.8)
    for truth in (OWN, "stays"):
        own = {**at, "truth": truth, "less": LESS}
        assert value(table, **own, measure="tto")["value"] == pytest.approx(0.08)
        assert value(table, **own, measure=ADDED)["value"] == pytest.approx(0.4)
        assert value(table, **own, measure=BEST)["value"] == pytest.approx(0.15)
        assert value(table, **own, measure=TRAINED)["value"] == pytest.approx(0.19)
        assert value(table, **own, measure=FORCED)["value"] == pytest.approx(0.21)
        assert value(table, **own, measure=REST)["value"] == pytest.approx(0.19)
        assert value(table, **own, measure="trained_of_added")["value"] == pytest.approx(0.475)
        assert value(table, **own, measure="forced_of_added")["n"] == 2
    assert value(table, **at, measure=EFFECTIVE_RANK)["value"] == pytest.approx(3.6)
    seeds = chosen(by_seed, **at, measure="loss")
    assert (seeds.seed.tolist(), seeds.value.tolist()) == ([1, 2], pytest.approx([0.8, 0.8]))
    assert set(table.bytes) == {1800 * 512, 3600 * 512}


def test_at_equal_loss_full_heads_of_other_steps_stand_in(ladder):
    """Rank 4 loses 2.3 after 1800 steps; full rank 2.7 after 450 and 1.5 after 1800, and TTO is a tenth of the loss."""
    row = value(ladder[0], weights=12 * 16**2, step=1800, rank=4, measure="tto", truth=OWN, less=STOPPED)
    assert row["value"] == pytest.approx(0, abs=1e-9)
    assert row["n"] == 2


def test_a_size_of_one_seed_has_no_interval_over_seeds(held_out):
    row = value(held_out[0], step=1800, rank=4, measure=ADDED, truth=OWN)
    assert row["n"] == 1
    assert np.isnan(row["low"])


@pytest.fixture(scope="module")
def seeds_of_a_law():
    """What rank 4 adds to the KL, by a law, at three sizes and three texts, with two seeds that differ a little."""
    law = Law(0.1, 0.2, 0.3, 0.1, (1e6, 1e6))
    rows = [
        {
            **{"weights": int(size), "bytes": int(text), "rank": 4, "seed": seed, "truth": truth, "less": LESS},
            **{"measure": measure, "value": float(law(size, text)) * (1 + 0.01 * (-1) ** seed)},
        }
        for size in (2e5, 1e6, 4e6)
        for text in (1e6, 2e6, 4e6)
        for seed in (1, 2)
        for truth in (OWN, "stays")
        for measure in (ADDED, FORCED, REST, "tto")
    ]
    return law, record(rows)


PLACES = [{"place": "large", "weights": 8_000_000, "bytes": 4_000_000, "ranks": [4]}]


@pytest.fixture(scope="module")
def predicted(seeds_of_a_law):
    rows = list(predictions(seeds_of_a_law[1], PLACES, 20, 0))
    return pa.Table.from_pylist(rows, schema=PREDICTIONS).to_pandas()


def test_predictions_are_the_laws_with_its_coefficients_beside_them(seeds_of_a_law, predicted):
    law, _ = seeds_of_a_law
    of = {"rank": 4, "truth": OWN, "measure": FORCED}
    large = value(predicted, **of, place="large")
    assert large["value"] == pytest.approx(float(law(8e6, 4e6)), rel=0.02)
    assert large["low"] < large["value"] < large["high"]
    assert value(predicted, **of, place=LAW, coefficient="of_size")["value"] == pytest.approx(0.3, abs=0.05)
    assert value(predicted, **of, place="thesis")["bytes"] == READ["thesis"][4]
    assert value(predicted, **of, place="workstation")["weights"] == WEIGHTS == 50_331_648


def test_where_there_is_no_law_the_note_says_why(seeds_of_a_law):
    _, by_seed = seeds_of_a_law
    below = by_seed.assign(value=-by_seed.value)
    found = pd.DataFrame(predictions(below, PLACES, 5, 0))
    assert found.note.str.contains("no law: a size, a text or a value is not above 0").all()


def test_what_came_stands_beside_what_was_predicted(seeds_of_a_law, predicted):
    law, by_seed = seeds_of_a_law
    held = by_seed[(by_seed.weights == 4_000_000) & (by_seed.bytes == 4_000_000)].assign(weights=8_000_000)
    came = list(of_ladder(held, PLACES, [FORCED, REST]))
    assert len(came) == 4
    table = outcomes_table(predicted, came, "byte")
    row = value(table, arm="large", measure=FORCED + CAME, truth=OWN)
    assert row["value"] == pytest.approx(float(law(4e6, 4e6)))
    page = outcomes_page(table, 20)
    (section,) = (section for section in page.sections if section.heading == "Models of `large`")
    assert {cells["in the interval"] for cells in section.rows} == {"no"}
    assert len(section.rows) == 4
    assert list(hits(table)) == []  # parts of the KL do not count beside it
    came = list(of_ladder(held, PLACES, ["tto"]))
    said = hits(outcomes_table(predicted, came, "byte"))
    assert "Of large, 0 of 2 predictions of loss, TTO and KL hold what came in their 95 % interval." in said
    assert page.sections[-1].heading.startswith("The law")
    figure = draw(by_seed, held, predicted, "stays")
    assert len(figure.axes) == 4
    stars = [line for line in figure.axes[0].lines if line.get_marker() == "*"]
    assert stars[0].get_xdata()[0] == pytest.approx(6 * 8e6 * 4e6)


def test_models_elsewhere_are_read_from_their_tables():
    kept = record(
        {"rank": rank, "measure": measure, "value": number * scale}
        for rank, number in {4: 1.0, 8: 0.5, 16: 0.3, 512: 0.1}.items()
        for measure, scale in {"kl": 1.0, "forced": 0.5, "rest": 0.5, "tto": 0.3}.items()
    )
    found = {(row["rank"], row["measure"]): row["value"] for row in of_workstation(kept)}
    assert found[4, ADDED] == found[4, "kl"] == pytest.approx(0.9)
    assert found[8, FORCED] == pytest.approx(0.2)
    without = kept[(kept["rank"] != 4) | (kept.measure != "forced")]  # of which only a bound is known
    assert {row["measure"] for row in of_workstation(without) if row["rank"] == 4} == {ADDED, "kl", "tto", REST}
    printed = [
        read_csv(ROOT / f"resources/published/table_{name}.csv", dtype={"model": str}) for name in ("3_1", "4_1")
    ]
    found = {(row["rank"], row["truth"], row["measure"]): row["value"] for row in of_thesis(*printed, "stays")}
    assert found[4, None, "validation_loss"] == pytest.approx(1.776 - 0.933)
    assert found[4, "stays", "tto"] == pytest.approx(0.432 - 0.136)
    assert found[16, OWN, "tto"] == pytest.approx(0.072 - 0.076)


@pytest.mark.parametrize("measured_yet", [True, False])
def test_the_outcomes_are_made_of_the_files_that_the_plan_names(seeds_of_a_law, tmp_path, measured_yet):
    _, by_seed = seeds_of_a_law
    held = by_seed[by_seed.bytes == 4_000_000].assign(weights=8_000_000)
    for name, table in {"ladder": by_seed, "held_out": held}.items():
        write_csv(written(table, f"{name}_by_seed"), tmp_path / f"{name}.csv")
    rows = list(predictions(by_seed, PLACES, 5, 0))
    write_table(tmp_path / "predictions.parquet", pa.Table.from_pylist(rows, schema=PREDICTIONS), {})
    files = {"ladder": tmp_path / "ladder.csv", "held_out": [tmp_path / "held_out.csv"] if measured_yet else []}
    files |= {
        "predictions": tmp_path / "predictions.parquet",
        "workstation": ROOT / "resources/studies/workstation/tables/forced.csv",
    }
    files |= {
        name: ROOT / f"resources/published/table_{of}.csv" for name, of in {"losses": "3_1", "leaks": "4_1"}.items()
    }
    made = job(files, tmp_path, {"places": PLACES, "truth": "stays", "resamples": 5, "unit": "byte"})
    made.output = outputs(tmp_path)
    outcomes.main(made)
    table = read_record(made.output.csv)
    assert {"large", "workstation", "thesis", LAW} == set(table.arm)
    assert (table.arm.eq("large") & table.measure.str.endswith(CAME)).any() == measured_yet
    assert value(table, arm="thesis", rank=4, measure="tto" + CAME, truth="stays")["value"] == pytest.approx(0.296)
    assert value(table, arm="workstation", rank=4, measure="tto" + CAME)["value"] == pytest.approx(0.332361)
    assert "Models of `workstation`" in made.output.markdown.read_text()


def test_the_page_and_the_sentences(ladder):
    titles = [section.heading for section in ladder_page(ladder[0]).sections]
    assert "Of the KL that a rank adds, against `own`" in titles
    assert "Less a full head of equal loss, against `stays`" in titles
    own, stays = shares_by_size(ladder[0])
    assert own.startswith("Against own, of the KL that rank 4 adds its head forces 0.5")
    assert own.endswith("no share that can be told from it.")
    assert stays.startswith("Against stays")
