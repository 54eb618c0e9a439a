"""The study in the real DAG: a control is sampled and judged, and stands beside a lower rank."""

from study import TINY

from oversmoothing.tables.record import read_record

TABLE = "results/tables/equal_loss.csv"


def test_a_control_is_sampled_and_judged_and_stands_in_the_table(copy):
    (copy.folder / "control.yaml").write_text(
        "family: [{rank: 4}, {rank: 16}, {rank: 16, max_steps: 8}, {rank: 16, context: 3}, {rank: 16, layers: 2}]"
    )
    copy.snakemake(TABLE, config=(TINY, "control.yaml"))
    levels = read_record(copy.folder / TABLE).query("less.isna() and step == 8")
    assert {"validation_loss", "tto", "kl", "valid_words"} <= set(levels.measure)
    assert levels.value[levels.measure == "loss"].item() > 0
    arms = {"bn4", "bn16", "bn16-8steps", "bn16-context3", "bn16-layers2"}
    assert arms <= set(read_record(copy.folder / TABLE).query("less.isna()").arm.dropna())
    assert (copy.folder / "results/figures/equal_loss.png").stat().st_size > 10_000
