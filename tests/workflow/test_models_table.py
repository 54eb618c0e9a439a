"""The list of models of a real, tiny study, against its files."""

import numpy as np
import pyarrow.parquet as pq
from safetensors.numpy import load_file
from study import MODELS


def test_it_lists_every_model_with_what_its_name_stands_for_and_its_loss(study):
    found = {row["name"]: row for row in pq.read_table(study.folder / MODELS).to_pylist()}
    results = study.folder / "results"
    files = {
        path.stem for folder in ("scores/tto", "scores/tbat", "logits") for path in results.glob(f"{folder}/*.parquet")
    }
    assert files <= set(found)
    assert (
        found["bn4-s1337"].items() >= {"kind": "family", "rank": 4, "seed": 1337, "arm": "bn4", "source": None}.items()
    )
    assert found["svd4-s1337"].items() >= {"kind": "svd", "rank": 4, "arm": "svd4", "source": "bn16-s1337"}.items()
    trained = {name: row for name, row in found.items() if row["loss"] is not None}
    assert trained.keys() == {"bn4-s1337", "bn16-s1337", "truth"}
    for name, row in trained.items():
        folder = study.folder / "results/models" / name
        assert row["loss"] == min(pq.read_table(folder / "history.parquet")["validation_loss"].to_pylist())
        assert row["parameters"] == sum(
            np.size(weights) for weights in load_file(folder / "weights.safetensors").values()
        )
        assert row["unit"] == "nats per byte"
