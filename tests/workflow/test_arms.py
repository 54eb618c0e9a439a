"""The arms of a family in the real DAG: each is trained, scored and compared with the full model of its seed."""

import pandas as pd
import pytest
import yaml

TABLES = [f"results/tables/{name}.csv" for name in ("paired_ranks", "oversmoothing", "losses")]
OTHERS = [f"{name}-s{seed}" for name in ("w16", "bn4") for seed in (1, 2)]
FAMILY = [{"width": 16, "heads": 2}, {"rank": 4}, {"rank": 4, "head": "plain"}, {"backward_rank": 4}]


@pytest.mark.slow
def test_all_arms_of_two_seeds_are_compared_with_the_full_model(copy):
    (copy.folder / "arms.yaml").write_text(yaml.safe_dump({"family": FAMILY, "seeds": [1, 2], "svd_ranks": [4]}))
    config = ("tests/config/tiny.yaml", "arms.yaml")
    copy.snakemake(*TABLES, "results/figures/imposed_rank.png", config=config)
    paired = pd.read_csv(copy.folder / TABLES[0])
    assert set(paired.way) == {
        *("learned from scratch", "learned from scratch, plain head", "gradient alone"),
        *("truncated", "retrained", "retrained with LayerNorm"),
    }
    loss = paired[(paired.measure == "loss") & (paired["rank"] == 4)]
    assert (loss.n == 2).all()
    assert (loss.low <= loss["mean"]).all()
    assert loss.published_mean.notna().sum() == 2
    for path in TABLES[1:]:  # a table by rank has no arms
        assert {"w16-s1", "bn4-s2"} <= set(pd.read_csv(copy.folder / path).model) <= {*OTHERS, "truth"}
    assert copy.planned(*TABLES, config=config) == {}
