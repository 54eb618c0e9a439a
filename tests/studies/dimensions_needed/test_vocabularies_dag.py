"""The study in the real DAG, over bytes and over learned tokens, and its join."""

import numpy as np
import pyarrow.parquet as pq
from study import TINY, TOKENS

from oversmoothing.forced.projection import project
from oversmoothing.models.heads import read_model_head
from oversmoothing.models.logit_files import logit_groups
from oversmoothing.scores.probabilities import softmax
from oversmoothing.tables.record import chosen, read_record
from studies.dimensions_needed.measure import HEADS

TABLE = "results/tables/vocabularies.csv"
CONFIG = """
results: {results}
dimensions_needed:
  {{ranks: [2, 4], least: 48, per_column: 4, held_per_window: 3, within_truth: {within}, beside: [{beside}]}}
"""


def test_two_vocabularies_stand_in_the_table_of_the_second(copy):
    (copy.folder / "bytes.yaml").write_text(CONFIG.format(beside="", results="results/bytes", within="false"))
    (copy.folder / "tokens.yaml").write_text(
        CONFIG.format(beside="results/bytes/tables/vocabularies.csv", results="results", within="true")
    )
    second = (*TOKENS, "tokens.yaml")
    output = copy.snakemake(TABLE, config=second, check=False)
    assert "dimensions_needed.beside.0: no file results/bytes/tables/vocabularies.csv" in output
    copy.snakemake("results/bytes/tables/vocabularies.csv", config=(TINY, "bytes.yaml"))
    copy.snakemake(TABLE, config=second)
    assert copy.planned(TABLE, config=second) == {}
    table = read_record(copy.folder / TABLE)
    assert table.vocabulary.dropna().unique().tolist() == [256, 400]
    for v in (256, 400):
        two, four = (chosen(table, vocabulary=v, rank=rank, measure="fitted").value.item() for rank in (2, 4))
        assert two > four > 0
    best, other = (
        chosen(table, vocabulary=256, rank=4, measure=name).value.item() for name in ("fitted", "other_start")
    )
    assert best <= other
    assert chosen(table, vocabulary=400, measure="other_start").empty  # within the truth's span there is one start
    assert chosen(table, vocabulary=400, measure="needed_0.001").note.notna().all()
    assert (copy.folder / "results/figures/vocabularies.png").stat().st_size > 10_000
    what_is_written_is_what_the_library_finds(copy.folder / "results/bytes")


def what_is_written_is_what_the_library_finds(results):
    """At held positions the trained head forces what a projection says, and the best head was never fitted there."""
    table = pq.read_table(results / "dimensions_needed/4.parquet")
    assert table.schema.equals(HEADS)
    rows = table.to_pandas()
    assert set(rows.window[rows.fitted]).isdisjoint(rows.window[~rows.fitted])
    assert (~rows.fitted).sum() == 3 * 3
    assert rows.fitted.sum() == 3 * 16
    truth = {keys["window"][0].as_py(): logits for keys, logits in logit_groups(results / "logits/truth.parquet")}
    held = rows[~rows.fitted]
    p = softmax(np.stack([truth[row.window][row.position] for row in held.itertuples()]).astype(float))
    head = read_model_head(results / "models/bn4-s1337/weights.safetensors")
    np.testing.assert_allclose(held.trained, project(head.weights, p).forced, atol=1e-8)
    assert (held.kl > held.trained - 1e-9).all()
    without = pq.read_table(results / "dimensions_needed/2.parquet").to_pandas()
    assert without.trained.isna().all()
    assert without.kl.isna().all()
    assert without.best.notna().all()


def test_a_rank_that_the_truth_has_is_refused(copy):
    (copy.folder / "wide.yaml").write_text("dimensions_needed: {ranks: [24], per_column: 1}\n")
    assert "24, but the head of truth has 24 columns" in copy.snakemake(TABLE, config=(TINY, "wide.yaml"), check=False)
