"""The two scripts of this room, as Snakemake calls them."""

import json

import pytest
from corpus_jobs import WINDOWS, assert_a_flipped_bit_is_noticed, corpus_job
from step_jobs import job

import build_corpus
import draw_windows
from oversmoothing.data.splits import SPLITS
from oversmoothing.data.windows import SCHEMA
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table
from oversmoothing.store.sealed_json import read_sealed
from oversmoothing.training.group import Group
from oversmoothing.training.task import Task, perform


def windows_job(folder):
    text = {"evaluation": folder / "corpus/evaluation.bin", "manifest": folder / "corpus/manifest.json"}
    return job({"tokenizer": [], **text}, folder / "windows.parquet", WINDOWS)


def test_from_files_to_windows(tmp_path):
    build_corpus.main(corpus_job(tmp_path))
    manifest = json.loads((tmp_path / "corpus" / "manifest.json").read_text())
    for split in SPLITS:
        assert (tmp_path / "corpus" / f"{split}.bin").stat().st_size == manifest["splits"][split]["bytes"] > 0
    assert sum(part["documents"] for part in manifest["splits"].values()) == 400
    draw_windows.main(windows_job(tmp_path))
    table = read_table(tmp_path / "windows.parquet")
    assert table.schema.remove_metadata().equals(SCHEMA)
    assert len(table) == 5
    assert table.schema.metadata[b"evaluation_sha256"].decode() == manifest["splits"]["evaluation"]["sha256"]
    assert json.loads(table.schema.metadata[b"settings"]) == WINDOWS
    assert table.schema.metadata[b"starts"] == b"sentence"
    with pytest.raises(UserError, match=r"the evaluation split has .* 1,000,000 are needed"):
        build_corpus.main(corpus_job(tmp_path, at_least={"evaluation": 1_000_000}))


def train(of_corpus):
    paths = {name: str(getattr(of_corpus.input, name)) for name in ("training", "validation", "manifest")}
    settings = {"training": {"precision": "float32", "compile": False, "threads": 1}, "seed": 1}
    nothing = dict.fromkeys(("model", "code", "checkpoints", "weights", "history", "snapshots"), "")
    perform(Task(**nothing, **paths, settings=settings, device="cpu", interval=1, log=None), Group())


@pytest.mark.parametrize(
    ("main", "split"), [(draw_windows.main, "evaluation"), (train, "train"), (train, "validation")]
)
def test_a_split_is_read_only_as_its_manifest_has_it(tmp_path, main, split):
    assert_a_flipped_bit_is_noticed(tmp_path, main, split)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"train": {', '"trbin": {'),
        lambda text: text.replace('"sha256"', '"sha257"'),
    ],
)
def test_a_damaged_manifest_is_named(tmp_path, damage):
    build_corpus.main(corpus_job(tmp_path))
    path = tmp_path / "corpus" / "manifest.json"
    path.write_text(damage(json.dumps(read_sealed(path))))
    with pytest.raises(UserError, match=r"manifest\.json: not a complete manifest of a corpus .*: delete it and run"):
        draw_windows.main(windows_job(tmp_path))
