"""The arms of a family in the real DAG: each is trained, scored and compared with the full model of its seed."""

import json

import pandas as pd
import pytest
from study import ARMS as CONFIG

from studies.paired_ranks.paired import BETWEEN, FULL

TABLES = [f"results/tables/{name}.csv" for name in ("paired_ranks", "learning_rates", "losses", "closed_square")]
FIGURES = [f"results/figures/{name}.png" for name in ("imposed_rank", "paired_ranks", "closed_square")]
OTHERS = [f"{name}-s{seed}" for name in ("w16", "bn4") for seed in (1, 2)]
ARMS = ("w16", "bn4", "pl4", "pm4", "bw4", "mos2-bn4", "bn4-tailr0.1")


@pytest.mark.slow
def test_all_arms_of_two_seeds_are_compared_with_the_full_model(copy):
    copy.snakemake("all", config=CONFIG)
    assert all((copy.folder / path).exists() for path in (*TABLES, *FIGURES))
    assert not (copy.folder / "results/samples").exists()
    paired = pd.read_csv(copy.folder / TABLES[0])
    assert set(paired.kind) == {
        *("family", "plain", "matched", "backward", "mos2", "tailr", "svd"),
        *("retrained", "normed", "full_head", "own_trunk"),
    }
    assert set(paired.less.dropna()) == {FULL, *(other for _, other in BETWEEN)}
    loss = paired[(paired.measure == "loss") & (paired["rank"] == 4)]
    assert (loss.n == 2).all()
    assert (loss.low <= loss.value).all()
    assert loss.published.notna().sum() == 3
    assert set(paired.kind[paired.measure == "tbat"]) >= {"plain", "backward"}
    assert {"loss", "tto", "slowdown"} <= set(paired.measure[paired.kind == "mos2"])  # and nothing that takes a matrix
    assert "tbat" not in set(paired.measure[paired.kind == "mos2"])
    for place in ("scores/tbat", "scores/forced"):
        assert not list((copy.folder / "results" / place).glob("mos2*"))
    square = pd.read_csv(copy.folder / TABLES[3])
    assert set(square["rank"]) == {4, 16}
    assert {"full_head", "own_trunk", "retrained", "plain"} <= set(square.kind[square.measure == "tto"])
    for arm in ARMS:
        chosen = json.loads((copy.folder / f"results/learning_rates/{arm}.json").read_text())
        assert chosen["losses"][f"{chosen['learning_rate']:g}"] == min(chosen["losses"].values())
        for seed in (1, 2):
            history = pd.read_parquet(copy.folder / f"results/models/{arm}-s{seed}/history.parquet")
            assert history.learning_rate.max() == pytest.approx(chosen["learning_rate"] * (1 - 6 / 14))  # at step 8
    losses = pd.read_csv(copy.folder / TABLES[2])  # a table by rank has no arms
    assert {"w16-s1", "bn4-s2"} <= set(losses.model) <= {*OTHERS, "truth"}
    assert copy.planned("all", config=CONFIG) == {}
    copy.edit(CONFIG[1], "tried: [0.002, 0.004]", "tried: [0.004]")
    again = copy.planned("all", config=CONFIG)
    assert again["choose_learning_rate"] == len(ARMS)
    assert again["train"] == 2 * len(ARMS)  # and no trial
