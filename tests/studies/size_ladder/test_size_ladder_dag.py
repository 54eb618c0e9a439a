"""The ladder in the real DAG: a law of two small sizes predicts a third, and rung after rung shares one training."""

import pyarrow.parquet as pq
import yaml
from study import TINY

from oversmoothing.tables.record import chosen, read_record

CONFIG = """
studies: [forced_part, leak_at_equal_loss, size_ladder]
training: {decay: stable, decay_share: 0.25, snapshots: false, max_steps: 16}
size_ladder:
  sizes:
    - {width: 16, layers: 1, heads: 2, seeds: [1], ranks: [4]}
    - {width: 24, layers: 1, heads: 2, seeds: [1], ranks: [4]}
    - {width: 32, layers: 1, heads: 2, seeds: [1], ranks: [4], held_out: later}
  steps: [8, 16]
  truth: truth
  resamples: 3
"""
PREDICTIONS = "results/scale_predictions.parquet"
TABLES = [f"results/tables/{name}.csv" for name in ("scale", "scale_predictions")]


def test_predictions_come_before_what_they_predict_and_the_tables_after(copy):
    (copy.folder / "ladder.yaml").write_text(CONFIG)
    config = (TINY, "ladder.yaml")
    jobs = copy.planned(*TABLES, config=config)
    assert (jobs["train_trunk"], jobs["climb"], jobs["ladder_best"]) == (6, 8, 5)
    copy.snakemake(*TABLES, config=config)
    assert not (copy.folder / "results/ladder/w32x1").exists()
    rows = pq.read_table(copy.folder / PREDICTIONS).to_pandas()
    assert {"w32x1-8steps", "w32x1-16steps", "workstation", "thesis"} <= set(rows.place)
    table = read_record(copy.folder / TABLES[0])
    assert {"loss", "tto", "kl", "added", "added_best", "added_rest", "effective_rank"} <= set(table.measure)
    assert set(table.truth.dropna()) == {"own", "truth"}
    assert set(table.weights) == {12 * 16**2, 12 * 24**2}
    assert len(chosen(table, measure="added", truth="own")) == 4
    outcomes = read_record(copy.folder / TABLES[1])
    assert outcomes.measure.str.endswith("_came").any()
    assert (copy.folder / "results/figures/scale.png").stat().st_size > 10_000
    assert copy.planned(*TABLES, config=config) == {}
    sizes = yaml.safe_load(CONFIG.replace("later", "true"))["size_ladder"]["sizes"]
    before = {"sizes": sizes, "ladder": "results/tables/scale_by_seed.csv", "predictions": PREDICTIONS}
    (copy.folder / "later.yaml").write_text(yaml.safe_dump({"results": "later", "size_ladder": before}))
    jobs = copy.planned("later/tables/scale_predictions.csv", config=(*config, "later.yaml"))
    assert (jobs["train_trunk"], jobs["climb"], jobs["ladder_best"]) == (3, 4, 3)
    assert "scale_table" not in jobs
    copy.snakemake("later/tables/scale_predictions.csv", config=(*config, "later.yaml"))
    later = read_record(copy.folder / "later/tables/scale_predictions.csv")
    assert later[later.arm == "w32x1-16steps"].measure.str.endswith("_came").any()
    assert not outcomes[outcomes.arm == "w32x1-16steps"].measure.str.endswith("_came").any()
