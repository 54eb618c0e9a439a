"""What holds across seeds: hand-solved levels, steps and floors, and the step on files."""

import re

import numpy as np
import pandas as pd
import pytest
from default_config import default
from made_scores import write_scores
from scipy.stats import ttest_1samp
from step_jobs import job, outputs

import window_means
from oversmoothing.numerics.crossed import crossed_interval
from oversmoothing.numerics.statistics import student_interval
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.record import chosen, read_record
from plan.models import replicated
from studies.across_seeds import show
from studies.across_seeds.plan import FULL, TRUTHS, equals, others
from studies.across_seeds.table import across_page, across_table, of_pairs

SEEDS = (1, 2, 3)
OF_TRUTH = {"truth-1": 0.0, "truth-2": 0.1}
MODELS = [
    {"model": f"{arm}{rank}-s{seed}", "kind": kind, "rank": rank, "seed": seed, "arm": f"{arm}{rank}"}
    for seed in SEEDS
    for arm, kind in (("bn", "family"), ("pl", "plain"))
    for rank in (4, 8)
]
GROUPS = {FULL: ["bn8-s1", "bn8-s2", "bn8-s3"], TRUTHS: [*OF_TRUTH]}


def level(model, truth):
    """The seed moves all ranks by .01, and rank 4 by .001 more; the plain arm lies .05 lower at rank 4."""
    low = model["rank"] == 4
    of_rank = 0.2 + 0.1 * low - 0.05 * (low and model["kind"] == "plain")
    return of_rank + (0.01 + 0.001 * low) * model["seed"] + OF_TRUTH[truth]


@pytest.fixture
def scores():
    """Two windows of 25 and 75 positions, about whose mean they lie."""
    rows = [
        (model["model"], truth, name, window, n, level(model, truth) + shift)
        for model in MODELS
        for truth in OF_TRUTH
        for name in AGAINST_TRUTHS
        for window, (n, shift) in enumerate(((25, 0.03), (75, -0.01)))
    ]
    means = pd.DataFrame(rows, columns=["model", "truth", "measure", "window", "n", "value"])
    return means.merge(pd.DataFrame(MODELS), on="model")


@pytest.fixture
def of_equals():
    pairs = [(a, b) for names in GROUPS.values() for a in names for b in names if a != b]
    rows = [(a, b, name, 0.03 + 0.01 * int(a[-1]), 50) for a, b in pairs for name in AGAINST_TRUTHS]
    return pd.DataFrame(rows, columns=["model", "truth", "measure", "value", "n"])


@pytest.fixture
def table(scores, of_equals):
    return across_table(scores, of_equals, GROUPS)


def test_levels_are_means_over_seeds_and_truths(table):
    tto = chosen(table, measure="tto", truth=None, rank=4, less=None).set_index("kind")
    seeds = [0.35 + 0.011 * seed for seed in SEEDS]
    assert tto.loc["family", ["value", "low", "high"]].tolist() == pytest.approx(student_interval(seeds))
    assert tto.loc["family", ["n", "sd"]].tolist() == pytest.approx([3, np.std(seeds, ddof=1)])
    against_one = table[(table.measure == "tto") & (table.truth == "truth-2")]
    assert against_one.value.max() == pytest.approx(0.4 + 0.022)


def test_steps_and_arms_are_paired_by_seed(table):
    step = chosen(table, measure="tto", kind="family", less="rank 8").iloc[0]
    direct = ttest_1samp([0.1 + 0.001 * seed for seed in SEEDS], 0).confidence_interval()
    assert (step["rank"], step.arm) == (4, "bn4")
    assert [step.low, step.high] == pytest.approx([*direct])  # far narrower than the levels': what seeds share cancels
    arms = chosen(table, measure="tto", kind="plain", less="family").set_index("rank")
    assert arms.value.to_dict() == pytest.approx({4: -0.05, 8: 0.0})


def test_levels_have_intervals_over_seeds_and_windows_and_of_differences_windows_cancel(table):
    tto = chosen(table.fillna({"less": "level"}), measure="tto", truth=None, rank=4, kind="family").set_index("less")
    level, step = (tto.loc[name] for name in ("level", "rank 8"))
    square = [[0.35 + 0.011 * seed + shift for shift in (0.03, -0.01)] for seed in SEEDS]
    assert [level.low_crossed, level.high_crossed] == pytest.approx(crossed_interval(square, [25, 75])[1:])
    assert level.high_crossed - level.low_crossed > 2 * (level.high - level.low)
    assert [step.low_crossed, step.high_crossed] == pytest.approx([step.low, step.high])
    (words,) = (line for line in across_page(table, "T").legend if "over seeds and windows" in line)
    assert "differ in width by more than a third" in words


def test_two_arms_of_one_rank_are_two_levels_and_have_no_step(scores, of_equals):
    of_wide = scores[scores.arm == "bn8"].replace({"model": r"^bn", "arm": r"^bn"}, "w", regex=True)
    table = across_table(pd.concat([scores, of_wide]), of_equals, GROUPS)
    assert set(chosen(table, less="rank 8").kind) == {"plain"}
    assert set(chosen(table, less="family")["rank"]) == {4}
    rows = across_page(table, "T").sections[0].rows
    assert [row["way"] for row in rows if row["rank"] == "8"] == [
        "learned from scratch (`bn8`)", "learned from scratch, plain head", "learned from scratch (`w8`)"
    ]  # fmt: skip


def test_the_floor_is_of_models_against_their_equals(table):
    floor = table[(table.measure == "tto_floor") & (table.note == FULL)]
    pairs, mean = floor[floor.model.notna()], floor[floor.model.isna()].iloc[0]
    assert len(pairs) == 6
    assert (pairs.n == 50).all()
    # The pair of i and j is a_i, so that the pseudo-values of the mean, too, are a_i.
    assert [mean.value, mean.low, mean.high] == pytest.approx(student_interval([0.04, 0.05, 0.06]))
    of_truths = table[(table.measure == "tto_floor") & (table.note == TRUTHS) & table.model.isna()].iloc[0]
    assert of_truths.value == pytest.approx(0.045)
    assert np.isnan(of_truths.low)  # of two models


def test_the_mean_of_pairs_has_the_interval_of_what_each_model_adds():
    adds = np.random.default_rng(0).normal(size=6)
    assert of_pairs(adds[:, None] + adds) == pytest.approx(student_interval(2 * adds))


def test_equals_differ_in_their_seed_alone():
    layers = {"a": 3, "b": 3, "c": 2}
    truths = [{"name": name, "seed": ord(name), "model": {"layers": of}, "training": {}} for name, of in layers.items()]
    config = default(seeds=[1, 2], family=[{"rank": 4}, {"rank": 8}, {"backward_rank": 4}], truths=truths)
    assert equals(config) == {FULL: ["bn8-s1", "bn8-s2"], TRUTHS: ["a", "b"]}
    assert others(equals(config), "a") == ["b"]
    assert {row["kind"] for row in replicated(config)} == {"family", "backward"}
    assert replicated(default(seeds=[1])) == []
    assert equals(default(seeds=[1])) == {}


def test_the_step_writes_the_table_and_the_figure(tmp_path, scores, of_equals):
    def write(folder, frame):
        return [
            write_scores(
                tmp_path / folder / measure / f"{model}.parquet",
                [
                    (window, row.truth, "pure", [row.value] * n)
                    for row in part.itertuples()
                    for window, n in ([(row.window, row.n)] if "window" in part else [(0, 25), (1, 25)])
                ],
            )
            for (measure, model), part in frame.groupby(["measure", "model"], sort=False)
        ]

    files, windows = write("scores", scores), tmp_path / "window_means.parquet"
    window_means.main(job({"scores": files, "tbat": []}, [windows], {"models": MODELS}))
    kept = read_table(windows).to_pandas().astype({"model": str, "truth": str, "measure": str})
    keys = ["model", "truth", "measure", "window"]
    found, wanted = (frame[[*keys, "n", "value"]].sort_values(keys, ignore_index=True) for frame in (kept, scores))
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-5, check_dtype=False, check_categorical=False)
    inputs = {"scores": [path for path in files if path.parent.name == "tto"], "windows": windows}
    inputs["equals"], output = write("equals", of_equals), outputs(tmp_path)
    show.main(job(inputs, output, {"models": MODELS, "equals": GROUPS}))
    written = read_record(output.csv)
    apart = written.measure == "tto_apart"
    assert written[apart].set_index("seed").value.to_dict() == pytest.approx({s: 0.1 + 0.001 * s for s in SEEDS})
    direct = across_table(kept, of_equals, GROUPS)
    keys = ["kind", "rank", "truth", "measure", "less", "model", "note"]
    frames = [frame.drop(columns="table").sort_values(keys, ignore_index=True) for frame in (written[~apart], direct)]
    pd.testing.assert_frame_equal(*frames, rtol=1e-5, atol=1e-6)  # scores are float32
    page = output.markdown.read_text()
    assert "The floor: two models that differ in nothing but their seed" in page
    for truth, mean in (("truth-1", "0.272"), ("truth-2", "0.372")):  # a mean over truths belongs to none
        levels = page.partition(f"next rank of the arm, against `{truth}`")[2]
        assert re.search(rf"\| 4 +\| learned from scratch, plain head +\| {mean} \[", levels.partition("\n## ")[0])
    assert "next rank of the arm\n" not in page
    assert output.png.stat().st_size > 10_000
