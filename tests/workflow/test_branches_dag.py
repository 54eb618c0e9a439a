"""Under `decay: stable` the real DAG trains what lengths share once, and each length goes on from there."""

from small_training import same_bits
from study import TINY

FAMILY = "family: [{rank: 16}, {rank: 16, max_steps: 8}, {rank: 4}]\nsvd_ranks: []\n"
STABLE = "training: {decay: stable, decay_share: 0.25, snapshots: false, max_steps: 16}\n"
MODEL = "results/models/bn16-8steps-s1337/weights.safetensors"


def test_a_trunk_is_one_job_and_its_branches_are_as_trained_in_one_go(copy):
    (copy.folder / "stable.yaml").write_text(FAMILY + STABLE)
    (copy.folder / "alone.yaml").write_text("results: alone\n" + FAMILY.replace("{rank: 16}, ", "") + STABLE)
    targets = [MODEL, MODEL.replace("-8steps", "")]
    assert copy.planned(*targets, config=(TINY, "stable.yaml")) == {"train": 2, "train_trunk": 1}
    copy.snakemake(*targets, config=(TINY, "stable.yaml"))
    assert not (copy.folder / "results/trunks/bn16-s1337/states").exists()
    assert not list((copy.folder / "checkpoints").iterdir())
    assert copy.planned(*targets, config=(TINY, "stable.yaml")) == {}
    alone = MODEL.replace("results/", "alone/")
    assert "train_trunk" not in copy.planned(alone, config=(TINY, "alone.yaml"))
    copy.snakemake(alone, config=(TINY, "alone.yaml"))
    assert same_bits(copy.folder / MODEL, copy.folder / alone)
