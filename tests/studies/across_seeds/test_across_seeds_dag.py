"""The floor in the real DAG: full models of two seeds are scored against each other."""

import numpy as np
import pyarrow.parquet as pq
from study import TINY

from oversmoothing.models.logit_files import read_logits
from oversmoothing.scores.metrics import softmax, tto
from oversmoothing.tables.record import read_record

TABLE = "results/tables/across_seeds.csv"
PAIR = ("bn16-s1337", "bn16-s1")


def test_a_second_seed_gives_steps_and_a_floor(copy):
    (copy.folder / "two.yaml").write_text("seeds: [1337, 1]\n")
    config = (TINY, "two.yaml")
    copy.snakemake(TABLE, config=config)
    table = read_record(copy.folder / TABLE).query("measure == 'tto_floor'")
    assert set(zip(table.model.dropna(), table.truth.dropna(), strict=True)) == {PAIR, PAIR[::-1]}
    for model, truth in (PAIR, PAIR[::-1]):
        logits = (copy.folder / f"results/logits/{name}.parquet" for name in (model, truth))
        windows = list(read_logits(next(logits), {truth: next(logits)}))
        direct = np.mean([tto(softmax(part.model), softmax(part.truths[truth])) for part in windows])
        np.testing.assert_allclose(table.value[table.model == model], direct, rtol=1e-5)
    scores = pq.read_table(copy.folder / "results/scores/across_seeds/kl/bn16-s1.parquet")
    assert scores["truth"].unique().to_pylist() == ["bn16-s1337"]
