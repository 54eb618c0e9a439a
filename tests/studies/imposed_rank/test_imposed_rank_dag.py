"""Retrained heads in the real DAG: what a change runs again, and what stands in the table and the figure."""

import re

import pyarrow.parquet as pq

from oversmoothing.tables.record import read_record


def test_a_new_retrained_rank_is_one_new_head_of_each_kind_and_a_new_arm_one_model(planned):
    """The arm is that of the recipe in CONTRIBUTING, requested in the config."""
    table, family = "results/tables/imposed_rank.csv", ("  - {rank: 4}\n", "  - {rank: 4}\n  - {head_rate: same}\n")
    more = planned(table, ("retrained: {ranks: [4, 8],", "retrained: {ranks: [4, 8, 12],"), family)
    heads = {"retrain_head": 2, "svd_logits": 2}
    assert more == {**heads, "train": 1, "logits": 1, "score": 3, "imposed_rank_table": 1}
    assert planned(table, ("retrained: {", "retrained: {norm: [none], ")) == {"imposed_rank_table": 1}  # fewer rows
    all_heads = {"retrain_head": 4, "svd_logits": 4, "score": 4, "imposed_rank_table": 1}
    assert planned(table, ("ranks: [4, 8], max_steps: 6,", "ranks: [4, 8], max_steps: 8,")) == all_heads


def test_a_new_metric_stands_in_the_table_and_the_figure(everything):
    """That of the recipe in CONTRIBUTING."""
    results = everything.folder / "results"
    table = read_record(results / "tables/imposed_rank.csv")
    brier = table[table.measure == "brier"]
    assert len(brier) == (table.measure == "kl").sum() > 0
    assert (brier.value >= 0).all()
    assert "Brier" in (results / "tables/imposed_rank.md").read_text()
    words = re.findall(r"<text[^>]*>(.*?)</text>", (results / "figures/imposed_rank.svg").read_text(), flags=re.DOTALL)
    assert any("Brier" in word for word in words)


def test_retrained_heads_are_listed_among_the_models(study):
    rows = {row["name"]: row for row in pq.read_table(study.folder / "results/models.parquet").to_pylist()}
    head = {"kind": "retrained", "rank": 4, "arm": "ab4", "source": "bn16-s1337", "parameters": None, "loss": None}
    assert rows["ab4-s1337"].items() >= head.items()
