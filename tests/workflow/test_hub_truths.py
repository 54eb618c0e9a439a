"""The thesis's own config, with only sizes lowered, from a hub on this machine: fetched once, then computed offline."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from hub_models import EVABYTE, files_of, write_evabyte
from local_hub import Repo, local_hub
from study import ROOT, Study, copy_project

from oversmoothing.store.parquet import read_table, vectors

THESIS = yaml.safe_load((ROOT / "config/thesis.yaml").read_text())
SIZES = {
    "studies": [],
    "windows": {"count": 6, "prompt": 8, "scored": 24},
    "model": {"layers": 1, "heads": 2, "width": 16, "block": 32},
    "family": [{"rank": 4}, {"rank": 16, "published_as": 512}],
    "svd_ranks": [4],
    "truths": [
        {**truth, "model": {"layers": 1, "width": 24, "heads": 3}} if "model" in truth else truth
        for truth in THESIS["truths"]
    ],
    "training": {"batch": 2, "accumulation": 2, "max_steps": 16, "warmup_steps": 2, "evaluation_interval": 8}
    | {"evaluation_batches": 2, "threads": 1},
    "inference": {"threads": 1},
    "metrics": {"tbat": {"approximations": [4]}},
    "statistics": {"resamples": 100},
}
CORPUS = {"corpus": {"source": "files", "paths": ["text.jsonl"]}}
SAMPLES = "results/thesis/samples/evabyte/pure.parquet"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def repos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repos")
    write_evabyte(folder / "evabyte", {**EVABYTE, "window_size": 64}, shards=2)
    (folder / "evabyte/modeling_own.py").write_text("raise SystemExit('ran')")
    return {"EvaByte/EvaByte": Repo(files_of(folder / "evabyte"))}


@pytest.fixture(scope="module")
def thesis(tmp_path_factory, repos):
    """Everything that follows from EvaByte, computed with the hub out of reach once `assets` has run."""
    folder = tmp_path_factory.mktemp("thesis")
    copy_project(folder)
    (folder / "sizes.yaml").write_text(yaml.safe_dump({**SIZES, **CORPUS}))
    thesis = Study(folder, ("config/thesis.yaml", "sizes.yaml"))
    with pytest.MonkeyPatch.context() as patch, local_hub(repos) as hub:
        patch.setenv("HF_HOME", str(folder / "home"))
        patch.setenv("HF_ENDPOINT", hub.address)
        thesis.snakemake("assets")
        patch.setenv("HF_ENDPOINT", NOWHERE)
        tables = [f"results/thesis/tables/{table}.csv" for table in ("decodings", "losses")]  # TBAT asks no truth
        thesis.snakemake(*tables, SAMPLES)
        yield thesis


def test_every_table_has_evabyte_beside_the_truth_trained_here(thesis):
    table = pd.read_csv(thesis.folder / "results/thesis/tables/decodings.csv")
    assert {"evabyte", "gpt-300m"} <= set(table.truth.dropna())
    losses = pd.read_csv(thesis.folder / "results/thesis/tables/losses.csv")
    assert "evabyte" in set(losses.model)


def test_its_logits_are_those_of_the_bytes_and_say_what_was_left_out(thesis):
    path = thesis.path("thesis/logits/evabyte.parquet")
    rows = read_table(path)
    assert len(rows) == 6 * 24
    assert vectors(rows["logits"].combine_chunks()).shape == (144, 256)
    mass = rows["special_mass"].to_numpy()
    file = pq.ParquetFile(path)
    facts = file.metadata.metadata
    assert float(facts[b"special_mass_mean"]) == pytest.approx(mass.mean(), rel=1e-4)
    assert float(facts[b"special_mass_max"]) == pytest.approx(mass.max(), rel=1e-4)
    assert "BYTE_STREAM_SPLIT" in file.metadata.row_group(0).column(3).encodings
    hidden = read_table(thesis.path("thesis/hidden/evabyte.parquet"))
    assert hidden["pre"].equals(hidden["post"])


def test_it_writes_samples_under_every_decoding(thesis):
    for decoding in ("pure", "greedy", "top-k", "top-p", "temperature"):
        rows = read_table(thesis.path(f"thesis/samples/evabyte/{decoding}.parquet"))
        assert [len(text) for text in rows["continuation"].to_pylist()] == [24] * 6
    logits = vectors(read_table(thesis.path("thesis/logits/evabyte.parquet"))["logits"].combine_chunks())[::24]
    greedy = read_table(thesis.path("thesis/samples/evabyte/greedy.parquet"))["continuation"].to_pylist()
    best = np.sort(logits, axis=1)
    clear = best[:, -1] - best[:, -2] > 0.1 * logits.std()  # bf16
    assert clear.any()
    assert [text[0] for text, sure in zip(greedy, clear, strict=True) if sure] == logits.argmax(1)[clear].tolist()


def test_a_change_of_the_adapter_redoes_the_truth_alone(thesis):
    """And, offline, without one nothing."""
    back = thesis.edit("scripts/oversmoothing/models/truths/evabyte.py", "BYTE_OFFSET = 64", "BYTE_OFFSET = 32 + 32")
    try:
        planned = thesis.planned("results/thesis/tables/decodings.csv", SAMPLES)
    finally:
        back()
    assert planned == {"hub_logits": 1, "sample": 1, "score": 2, "decodings_table": 1}
