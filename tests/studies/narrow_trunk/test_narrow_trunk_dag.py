"""The study in the real DAG: trunks learn on, and a narrow one stands beside full ones of equal loss."""

import pyarrow.parquet as pq
from study import TINY

from oversmoothing.tables.record import read_record

TABLE = "results/tables/narrow_trunk.csv"


def test_trunks_learn_on_and_stand_in_the_table(copy):
    (copy.folder / "trunks.yaml").write_text(
        "family: [{rank: 16}, {rank: 16, max_steps: 4}, {rank: 16, max_steps: 12}, {rank: 4, head: plain}]\n"
        "narrow_trunk: {steps: [2, 4], warmup_steps: 1, windows: 3}\n"
    )
    copy.snakemake(TABLE, config=(TINY, "trunks.yaml"))
    table = read_record(copy.folder / TABLE)
    assert {"bn16", "bn16-4steps", "bn16-12steps", "pl4"} == set(table.arm)
    assert {"loss", "tto", "kl", "loss_stays"} <= set(table.measure)
    shown = pq.read_table(copy.folder / "results/narrow_trunk/bn16-s1337.parquet").to_pandas()
    assert {"head", "last_block", "all", "scratch"} == set(shown.part.dropna())
    assert shown.step.unique().tolist() == [0, 2, 4]
    assert shown.window.nunique() == 3
    assert (copy.folder / "results/figures/narrow_trunk.png").stat().st_size > 10_000
