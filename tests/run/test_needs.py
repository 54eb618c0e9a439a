"""What a study needs, by hand."""

import re
from pathlib import Path

import pytest
import yaml
from default_config import default

import plan
from oversmoothing.models.gpt_shape import checkpoint_bytes, flops_per_byte, gpu_bytes, matrices
from oversmoothing.run.needs import disk_bytes, report, summary, trained_bytes, training_flops

ROOT = Path(__file__).resolve().parents[2]
SHAPE = {"layers": 2, "heads": 2, "width": 16, "block": 32, "rank": 4}
TRAINING = {"batch": 4, "accumulation": 2, "max_steps": 10, "evaluation_interval": 5, "evaluation_batches": 3}
TRAINING["snapshots"] = True
MODEL = {"name": "bn4-s1", "kind": "family", "settings": {"model": SHAPE, "training": TRAINING}}
STUDY = {
    "models": [MODEL, {"name": "svd4-s1", "kind": "svd", "settings": None}],
    "further": [],
    "truths": ["truth"],
    "byte_views": [],
    "fetched": {"a shard": 1000},
    "converted": 8000,
    "corpus": 1500,
    "positions": 10,
    "decodings": 5,
    "memory": 3000,
}


def test_a_training_by_hand():
    assert trained_bytes(MODEL["settings"]) == 10 * 4 * 2 * 32
    evaluated = 3 * 3 * 4 * 32  # at steps 0, 5 and 10
    assert training_flops(MODEL["settings"]) == flops_per_byte(SHAPE) * (2560 + evaluated // 3)
    assert gpu_bytes(SHAPE, 4) == 16 * matrices(SHAPE) + 34 * 4 * 32 * 2 * 16


def test_models_that_studies_add():
    heads = {"what": "heads that are trained again", "count": 2, "operations": 10**15}
    study = {**STUDY, "further": [heads, {**heads, "what": "none", "count": 0, "operations": 0}]}
    assert "1.0e+15 of 2 heads that are trained again." in report(study)
    assert "none" not in report(study)
    assert disk_bytes(study)["scores"] == 4 * 5 * 10 * 4 * 5


def test_what_byte_views_take():
    views = [{"name": "large", "operations": 67 * 10**11}, {"name": "new", "operations": None}]
    text = report({**STUDY, "byte_views": views})
    assert "Byte view large: 6.7e+12 operations, processor minutes of a core with AVX2: 2." in text
    assert "Byte view new: as many operations as its weights ask for, which `snakemake assets` lists." in text
    assert "Byte view" not in report(STUDY)


def test_disk_by_hand():
    disk = disk_bytes(STUDY)
    assert disk["models converted to float32"] == 8000
    assert disk["weights"] == 4 * matrices(SHAPE)
    assert disk["checkpoints under way"] == disk["weights"] + 2 * checkpoint_bytes(SHAPE)
    assert disk["snapshots along training"] == 5 * disk["weights"]  # steps 0, 1, 2, 4, 8
    assert disk["logits and hidden states"] == 4 * 10 * (2 * 256 + 16 + 4)
    assert disk["scores"] == 4 * 5 * 10 * 2 * 5
    still = {**MODEL, "settings": {"model": SHAPE, "training": {**TRAINING, "snapshots": False}}}
    assert disk_bytes({**STUDY, "models": [still]})["snapshots along training"] == 0


def test_hours_fall_with_the_speed():
    text = report(STUDY)
    minutes = sum(map(training_flops, (model["settings"] for model in STUDY["models"] if model["settings"]))) / 6e13
    assert f"{minutes / 0.067:,.0f}" in text.partition("Without a GPU, processor minutes")[2].splitlines()[4]
    rows = re.findall(r"^\| (\d+) +\| ([\d,]+) +\|", text, flags=re.MULTILINE)
    speeds = [int(speed.replace(",", "")) for _, speed in rows]
    assert speeds == [round(int(rate) * 1e12 / flops_per_byte(SHAPE)) for rate, _ in rows]
    assert "a shard 0.00 GB" in text
    assert "1 trainings" in text


@pytest.mark.parametrize("name", ["workstation", "thesis"])
def test_the_pages_say_what_the_configs_need(name):
    config = default(**yaml.safe_load((ROOT / f"config/{name}.yaml").read_text()))
    config["corpus"]["paths"] = []  # whatever lies in data/ here
    config["device"] = "cuda"  # whatever this machine has
    page = (ROOT / "docs/scales.md").read_text()
    row = " | ".join([f"| `{name}.yaml`", *summary(plan.needs.study(config)).values()]) + " |"
    assert row in page
    if name == "thesis":
        without_gpu = summary(plan.needs.study({**config, "device": "cpu"}))["job memory"]
        assert f"Without one EvaByte is read in float32, and its jobs take {without_gpu}." in page
