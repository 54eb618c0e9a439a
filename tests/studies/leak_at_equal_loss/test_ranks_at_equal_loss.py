"""Ranks at equal loss: interpolated by hand, levels and differences by seed, and what cannot be compared."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from default_config import default
from kept_runs import STUDIES
from scipy.stats import ttest_1samp

import plan
from oversmoothing.numerics.equal_loss import at_loss, bracket
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.tables.contrasts import by_window
from oversmoothing.tables.record import chosen, read_record
from studies.leak_at_equal_loss.finding import differences
from studies.leak_at_equal_loss.plan import compared, tables
from studies.leak_at_equal_loss.show import draw
from studies.leak_at_equal_loss.table import OF_SAMPLES, equal_loss_page, equal_loss_table, with_p

SEEDS, STEPS, TRUTHS = (1, 2, 3), {300: 2.4, 450: 2.0, 900: 1.6}, ("truth", "lm")  # losses of the full head
RANKS = {4: 2.2, 16: 1.8}  # and their losses after 900 steps
EXTRA = {4: 0.02, 16: -0.01}  # TTO beyond that of the full head at equal loss


def leak(loss):
    """TTO of a full head: a line with a bend at a loss of 2, so that interpolation between steps is exact."""
    return 0.1 * loss if loss <= 2 else 0.2 + 0.3 * (loss - 2)


def made(seed, loss, extra):
    values = {("", "validation_loss"): loss, ("", "loss"): loss + 0.05}
    values |= {(truth, name): leak(loss) + 0.01 * seed + extra for truth in TRUTHS for name in AGAINST_TRUTHS}
    return values | {("", name): loss for name in OF_SAMPLES}


@pytest.fixture
def models():
    arms = [("family", rank, 900, f"bn{rank}") for rank in (*RANKS, 288)]
    arms += [("shorter", 288, steps, f"bn288-{steps}steps") for steps in (450, 300)]
    return [
        {"model": f"{arm}-s{seed}", "kind": kind, "rank": rank, "seed": seed, "arm": arm, "steps": steps}
        for seed in SEEDS
        for kind, rank, steps, arm in arms
    ]


@pytest.fixture
def values(models):
    rows = []
    for model in models:
        loss = RANKS.get(model["rank"], STEPS[model["steps"]])
        for (truth, measure), value in made(model["seed"], loss, EXTRA.get(model["rank"], 0)).items():
            rows.append({"model": model["model"], "truth": truth, "measure": measure, "value": value})
    return pd.DataFrame(rows)


def by_windows(values):
    """Two windows of 100 bytes, the first above the mean by 0.01 and the second below it, in each model."""
    rows = values[values.measure.isin(["loss", *AGAINST_TRUTHS])]
    return pd.concat([rows.assign(window=w, n=100, value=rows.value + add) for w, add in ((0, 0.01), (1, -0.01))])


def tabulated(values, models):
    return equal_loss_table(values, models, by_windows(values))


def one(table, **where):
    (only,) = chosen(table, **where).to_dict("records")
    return only


@pytest.fixture
def table(values, models):
    return tabulated(values, models)


def test_a_rank_is_compared_with_the_full_head_of_its_loss(table):
    for rank, less in product(RANKS, ("equal loss", "equal loss on the windows")):
        found = one(table, measure="tto", truth="lm", rank=rank, less=less)
        assert found["value"] == pytest.approx(EXTRA[rank])
        assert found["n"] == 3


def test_levels_and_differences_at_equal_steps_are_over_seeds(table):
    level = one(table, measure="kl", truth="truth", arm="bn4", less=None)
    expected = student_interval([leak(2.2) + 0.02 + 0.01 * seed for seed in SEEDS])
    assert (level["value"], level["low"], level["high"]) == pytest.approx(expected)
    steps = one(table, measure="kl", truth="truth", rank=4, less="rank 288")
    assert steps["value"] == pytest.approx(leak(2.2) + 0.02 - leak(1.6))
    assert steps["high"] - steps["low"] == pytest.approx(0, abs=1e-9)


def test_what_all_models_share_of_a_window_widens_no_difference(table):
    for less in ("rank 288", "equal loss", "equal loss on the windows"):
        found = one(table, measure="tto", truth="lm", rank=4, less=less)
        assert [found["low_crossed"], found["high_crossed"]] == pytest.approx([found["low"], found["high"]])
    assert np.isnan(one(table, measure="valid_words", truth=None, rank=4, less="equal loss")["low_crossed"])


def test_by_window_is_what_each_window_does_to_the_difference_at_equal_loss():
    """Against the derivative: a window that counts a little more moves the losses, and between which steps they lie."""
    random, arms = np.random.default_rng(1), ["bn4", "slow", "fast"]
    n = pd.Series(random.integers(50, 200, 12).astype(float))
    losses = pd.DataFrame([base + random.normal(0, 0.2, 12) for base in (2.1, 2.6, 1.7)], arms)
    leaks = pd.DataFrame([base + random.normal(0, 0.1, 12) for base in (0.35, 0.5, 0.2)], arms)

    def apart(weights):
        loss, leak = (table @ weights / weights.sum() for table in (losses, leaks))
        return leak["bn4"] - at_loss(loss[arms[1:]].tolist(), leak[arms[1:]].tolist(), loss["bn4"])

    loss = losses @ n / n.sum()
    found = by_window(leaks, losses, n, "bn4", arms[1:], bracket(loss[arms[1:]].tolist(), loss["bn4"]))
    assert found @ n / n.sum() == pytest.approx(apart(n))
    for window, own in enumerate(found):
        step = n.copy()
        step[window] += 1e-4
        assert (apart(step) - apart(n)) / 1e-4 * n.sum() == pytest.approx(own - apart(n), rel=1e-3, abs=1e-4)


def test_a_loss_that_no_number_of_steps_gives_has_no_row(values, models):
    far = values.copy()
    far.loc[(far.model == "bn4-s2") & (far.measure == "validation_loss"), "value"] = 2.5
    table = tabulated(far, models)
    at_equal = table[table.less == "equal loss"]
    assert set(at_equal["rank"]) == {16}
    assert set(table[table.less == "equal loss on the windows"]["rank"]) == set(RANKS)


def test_correlation_over_the_ranks_of_a_seed(table):
    losses, leaks = [2.2, 1.8, 1.6], [leak(2.2) + 0.02, leak(1.8) - 0.01, leak(1.6)]
    r = one(table, measure="tto_correlation", truth="truth")
    assert r["value"] == pytest.approx(np.corrcoef(losses, leaks)[0, 1])


def test_page_and_figure_have_each_truth(table):
    sections = {section.heading: section for section in equal_loss_page(table, TRUTHS).sections}
    assert [row["rank"] for row in sections["Less the full head at equal loss, against `lm`"].rows] == ["4", "16"]
    assert len(sections["Levels, against `truth`"].rows) == 5
    assert len(sections["Less the full head at equal loss, of samples"].rows) == 2
    panels = draw(table, TRUTHS).axes
    leak, tto, kl = panels[::3], panels[1::3], panels[2::3]
    assert [axes.get_title(loc="left") for axes in leak] == [f"TTO by loss, by {of}" for of in ("our own truth", "lm")]
    assert [len(axes.containers) for axes in leak] == [3, 3]
    assert [[len(part.get_children()[0].get_xdata()) for part in axes.containers] for axes in tto] == [[2, 2, 0]] * 2
    for row in (leak, tto, kl):
        assert row[0].get_ylim() == row[1].get_ylim()
    shown = [whisker.get_segments() for axes in tto for part in axes.containers for whisker in part[2]]
    ends = [y for segments in shown for segment in segments for _, y in segment]
    assert tto[0].get_ylim()[0] < min(ends) <= max(ends) < tto[0].get_ylim()[1]
    assert len(draw(table, TRUTHS[:1]).axes) == 3


def test_without_samples_the_page_has_no_empty_sections_of_them(values, models):
    table = tabulated(values[~values.measure.isin(OF_SAMPLES)], models)
    assert not [of.heading for of in equal_loss_page(table, TRUTHS).sections if "samples" in of.heading]
    assert all(section.rows for section in equal_loss_page(table, TRUTHS).sections)


def test_samples_are_read_where_their_study_takes_part():
    family = [{"rank": 4}, {"rank": 288}, {"rank": 288, "max_steps": 300}]
    for names, count in ((["sample_quality", "leak_at_equal_loss"], 3), (["leak_at_equal_loss"], 0)):
        (table,) = tables(plan.Run(default(family=family, studies=names)))
        assert len(table.inputs["quality"]) == count


def test_p_is_adjusted_over_ranks_and_truths_of_a_measure(values, models):
    near = values.copy()
    moved = (near.measure == "tto") & (near.model == "bn4-s2")
    near.loc[moved, "value"] += 0.001
    near.loc[(near.measure == "tto") & (near.model == "bn16-s1"), "value"] += 0.02
    table = tabulated(near, models)
    rows = table[(table.less == "equal loss on the windows") & (table.measure == "tto")]
    raw = [ttest_1samp(x, 0).pvalue for x in ([0.02, 0.021, 0.02], [0.01, -0.01, -0.01]) for _ in TRUTHS]
    expected = [4 * raw[0]] * 2 + [1.0] * 2  # Holm's over four: the third would be 2 * 0.67
    found = {(row["rank"], row["truth"]): row["p"] for row in rows.to_dict("records")}
    assert [found[rank, truth] for rank in RANKS for truth in TRUTHS] == pytest.approx(expected, abs=1e-9)
    assert table[table.less.isna() | (table.less == "rank 288")].p.isna().all()


def test_the_kept_table_has_p_of_its_own_rows_and_the_answer_begins_with_the_main_comparison():
    kept = read_record(STUDIES / "equal_loss/tables/equal_loss.csv")
    pd.testing.assert_frame_equal(with_p(kept.assign(p=np.nan)), kept, rtol=1e-4)
    first, *_ = differences(kept)
    assert first.startswith("TTO less that of the full head at equal loss on the scored text, against truth,")


def test_full_heads_that_are_worse_for_other_reasons_are_held_against_those_of_other_steps_and_ranks_against_them():
    """By hand: those of a context leak .05 more than the line of steps, so a rank leaks .05 less against them."""
    losses = {"bn288-context2": 2.3, "bn288-context8": 1.9, "bn288-layers1": 2.1}
    models, rows = [], []
    arms = [("family", rank, f"bn{rank}", 900) for rank in (*RANKS, 288)] + [
        ("shorter", 288, f"bn288-{steps}steps", steps) for steps in (450, 300)
    ]
    arms += [("context" if "context" in arm else "layers", 288, arm, 900) for arm in losses]
    for (kind, rank, arm, steps), seed in product(arms, SEEDS):
        loss = losses.get(arm) or RANKS.get(rank, STEPS[steps])
        extra = 0.05 if kind == "context" else EXTRA.get(rank, 0)
        name = f"{arm}-s{seed}"
        models.append({"model": name, "kind": kind, "rank": rank, "seed": seed, "arm": arm, "steps": steps})
        values = made(seed, loss, extra).items()
        rows += [{"model": name, "truth": truth, "measure": m, "value": value} for (truth, m), value in values]
    table = tabulated(pd.DataFrame(rows), models)
    main = "equal loss on the windows"
    for arm, expected in {"bn288-context2": 0.05, "bn288-context8": 0.05, "bn288-layers1": 0, "bn4": 0.02}.items():
        assert one(table, measure="tto", truth="lm", arm=arm, less=main)["value"] == pytest.approx(expected)
    against = chosen(table, measure="tto", truth="lm", less=f"{main}, shorter context").set_index("arm").value
    share = (2.3 - 2.2) / (2.3 - 1.9)  # of the way from the one context to the other, at the loss of rank 4
    line = (1 - share) * leak(2.3) + share * leak(1.9)
    assert against["bn4"] == pytest.approx(leak(2.2) + 0.02 - line - 0.05)
    assert set(against.index) == {"bn4", "bn16"}
    page = {section.heading: section for section in equal_loss_page(table, TRUTHS).sections}
    rows = page[f"Other full heads less that of other steps at {main}, against `lm`"].rows
    assert [row["arm"] for row in rows] == ["bn288-context2", "bn288-context8", "bn288-layers1"]
    first = draw(table, TRUTHS).axes[0]
    assert len(first.containers) == 5


def test_controls_are_full_heads_of_fewer_steps_and_others_of_as_many():
    others = [{"rank": 288, "context": 8}, {"rank": 288, "layers": 1}, {"rank": 4, "context": 8}]
    rows = compared(default(family=[{"rank": 4}, {"rank": 288}, {"rank": 288, "max_steps": 300}, *others]))
    assert [row["arm"] for row in rows][3:] == ["bn288-context8", "bn288-layers1"]
    assert [row["steps"] for row in rows] == [900, 900, 300, 900, 900]


def test_controls_are_full_heads_of_fewer_steps():
    family = [{"rank": 4}, {"rank": 288}, {"rank": 288, "max_steps": 300}, {"rank": 4, "max_steps": 300}]
    rows = compared(default(family=family))
    assert [row["arm"] for row in rows] == ["bn4", "bn288", "bn288-300steps"]
    assert rows[-1]["steps"] == 300
    assert not compared(default(family=family[:2]))
