"""The larger configs at toy size; the thesis's text comes from a hub on this machine, and then there is no network."""

import io
import json
import random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from local_hub import Repo, local_hub
from study import ROOT, TINY, copy_project

from plan import studies

NAME = "HuggingFaceFW/fineweb"
TABLE = "results/thesis/tables/oversmoothing.csv"
SIZES = {
    "checkpoints": {"interval": 4},
    "windows": {"count": 6, "prompt": 8, "scored": 24},
    "model": {"layers": 1, "heads": 2, "width": 16, "block": 32},
    "family": [{"rank": 4}, {"rank": 16}],
    "svd_ranks": [4, 16],
    "truths": [{"name": "truth", "published_as": "NanoGPT 300M", "model": {"width": 24}, "training": {}}],
    "training": {
        "batch": 4, "accumulation": 2, "max_steps": 8, "warmup_steps": 2, "evaluation_interval": 4,
        "evaluation_batches": 2, "threads": 1,
    },
    "inference": {"batch": 4, "threads": 1},
    "studies": [],
    "statistics": {"resamples": 100},
}  # fmt: skip
SIZES |= {
    section: own
    for section, own in yaml.safe_load((ROOT / TINY).read_text()).items()
    if section in studies.sections("schema.yaml")
}


def shard(seed, rows=1500):
    draw = random.Random(seed)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(2000)]
    texts = [". ".join(" ".join(draw.choices(words, k=12)).capitalize() for _ in range(4)) + "." for _ in range(rows)]
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": texts, "id": list(map(str, range(rows)))}), sink, row_group_size=500)
    return sink.getvalue()


SHARDS = {f"sample/10BT/{number:03}_00000.parquet": shard(number) for number in (0, 14)}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with local_hub({NAME: Repo(dict(SHARDS), kind="dataset")}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        yield hub


def write_config(folder, name="thesis", **corpus):
    """Write one of the configs with other sizes, and some keys of its corpus changed."""
    config = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    for key, value in SIZES.items():
        config[key] = {**config.get(key, {}), **value} if isinstance(value, dict) else value
    config["corpus"] |= corpus
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(config))
    return str(path)


def test_from_the_hub_to_the_table_without_a_network_between(hub, built, tmp_path, monkeypatch):
    study = copy_project(tmp_path, built)
    config = write_config(tmp_path, fineweb={"evaluation_bytes": 100_000})
    study.snakemake("assets", config=config)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    hub.down = True
    study.snakemake(TABLE, config=config)
    manifest = json.loads((tmp_path / "results/thesis/corpus/manifest.json").read_text())
    assert manifest["source"]["commit"] == hub.repos[NAME].commit
    assert manifest["source"]["evaluation"]["budget"] == 100_000
    text = pq.read_table(io.BytesIO(SHARDS["sample/10BT/000_00000.parquet"]))["text"].to_pylist()
    read = [(tmp_path / f"results/thesis/corpus/{split}.bin").read_text() for split in ("train", "validation")]
    assert "".join(read) == "".join(text)
    held = "".join(pq.read_table(io.BytesIO(SHARDS["sample/10BT/014_00000.parquet"]))["text"].to_pylist())
    evaluation = (tmp_path / "results/thesis/corpus/evaluation.bin").read_text()
    assert held.startswith(evaluation)
    assert 100_000 <= len(evaluation) < 101_000
    table = pd.read_csv(tmp_path / TABLE)
    assert set(table["rank"]) == {4, 16}
    assert table.value.notna().all()
    # Another share for validation builds the corpus anew from what is there.
    other = write_config(tmp_path, fineweb={"evaluation_bytes": 100_000, "validation": 0.2})
    planned = study.planned(TABLE, config=other)
    assert "fetch_corpus" not in planned
    assert planned["build_corpus"] == 1


def test_the_plan_of_the_thesis_needs_no_network(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    planned = copy_project(tmp_path).planned(TABLE, config="config/thesis.yaml")
    assert (planned["fetch_corpus"], planned["train"], planned["train_truth"]) == (1, 7, 1)
