"""What heads force, as the workflow computes it at toy size: the identity at every position of every model."""

import re

import numpy as np
import pytest
from scipy.special import log_softmax
from study import ROOT

from oversmoothing.forced.divergence import divergence
from oversmoothing.forced.division import on_family
from oversmoothing.forced.projection import project_on
from oversmoothing.measures.entries.forced import family
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.record import read_record

FAMILY = {"bn4-s1337": "family", "bn16-s1337": "family"}
HEADS = {f"{short}{rank}-s1337": kind for short, kind in (("ab", "retrained"), ("ln", "normed")) for rank in (4, 8)}
TRUNCATED = {"svd4-s1337": "svd", "svd16-s1337": "svd"}


def logits(results, model):
    return np.concatenate([rows for _, rows in logit_groups(results / f"logits/{model}.parquet")])


def weights_of(results, model, kind):
    if kind in ("retrained", "normed"):
        return results / f"heads/{model}/weights.safetensors"
    return results / f"models/{'bn16-s1337' if kind == 'svd' else model}/weights.safetensors"


@pytest.mark.parametrize(("model", "kind"), (FAMILY | HEADS | TRUNCATED).items())
def test_forced_and_the_rest_are_the_divergence_at_every_position(everything, model, kind):
    results = everything.folder / "results"
    found = read_table(results / f"scores/forced/{model}.parquet").to_pandas()
    rank = int(re.findall(r"\d+", model)[0]) if kind == "svd" else None
    head = family(read_model_head(weights_of(results, model, kind), rank))
    p = np.exp(log_softmax(logits(results, "truth").astype(np.float64), axis=1))
    q = on_family(head, logits(results, model))
    nearest = project_on(head, p)  # not from the model's own distribution
    np.testing.assert_allclose(found.forced, nearest.forced, rtol=1e-8)
    np.testing.assert_allclose(divergence(p, q), found.forced + divergence(np.exp(nearest.log_q), q), rtol=1e-8)
    np.testing.assert_allclose(found.kl, divergence(p, q), rtol=1e-8)
    assert (found.gap <= 1e-9).all()


def test_the_tables_hold_all_heads(everything):
    for table, models in (("forced", FAMILY), ("forced_heads", {**TRUNCATED, **HEADS})):
        assert set(read_record(everything.folder / f"results/tables/{table}.csv").model) == set(models)


def test_the_familys_table_needs_no_other_heads(study):
    """So `make` builds it without training a head again."""
    figure = "results/figures/forced.png"
    assert study.planned(figure) == {"forced": 2, "forced_table": 1}
    assert figure in (ROOT / "Makefile").read_text()


def test_the_best_heads_are_beside_the_trained_ones(everything):
    table = read_record(everything.folder / "results/tables/best_head.csv")
    assert set(table.model) == set(FAMILY)
    for model, summaries in table.groupby("model"):
        rows = read_table(everything.folder / f"results/scores/best_head/{model}.parquet").to_pandas()
        scored = read_table(everything.folder / f"results/scores/forced/{model}.parquet").to_pandas()
        both = rows.merge(scored, on=["window", "position", "truth"], suffixes=("", "_scored"))
        assert len(both) == len(rows)
        assert both.forced.equals(both.forced_scored)
        assert (rows.free <= rows.forced + 1e-9).all()  # a norm takes a dimension away
        fitted = rows[rows.fitted]
        assert fitted.best.mean() <= fitted.free.mean() + 1e-8
        means = summaries.set_index("measure").value
        assert means[["rank", "head", "norm", "rest"]].sum() == pytest.approx(means["kl"], rel=1e-4)


def test_other_positions_for_best_heads_compute_them_alone(planned):
    changed = ("metrics:\n", "metrics:\n  forced: {best_head_per_window: 3}\n")
    tables = ["results/tables/best_head.csv", "results/tables/claims.csv"]
    assert planned(tables, changed) == {"best_head": 2, "best_head_table": 1}
