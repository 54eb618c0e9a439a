"""Shards -> splits: the thesis's cut, disjoint by document, within a budget, in memory that does not grow."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.data import columns
from oversmoothing.data.shards import Shards, build_from_shards, open_shards, read_fetched
from oversmoothing.data.splits import SPLITS
from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import read_sealed, write_sealed

ROOT = Path(__file__).resolve().parents[2]
TRAIN = [f"Training text {number}, {'x' * (number % 7)}." for number in range(100)]
HELD = [f"Evaluation text {number}." for number in range(30)]


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def shard(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"text": pa.array(values, pa.string()), "id": range(len(values))}), path, row_group_size=20)
    return path


def build(folder, train, held, **options):
    middle = len(train) // 2
    training = [shard(folder / "0.parquet", train[:middle]), shard(folder / "1.parquet", train[middle:])]
    training = Shards(training, budget=options.pop("budget", None))
    evaluation = Shards([shard(folder / "2.parquet", held)])
    paths = {split: folder / "corpus" / f"{split}.bin" for split in SPLITS}
    contents = build_from_shards(training, evaluation, paths, folder / "corpus/manifest.json", **options)
    return contents, {split: path.read_bytes() for split, path in paths.items()}


def test_the_thesis_cut(tmp_path, monkeypatch):
    """Nine tenths of the bytes train and the rest validates, without a separator; evaluation is another shard."""
    monkeypatch.setattr(columns, "ROWS", 8)
    contents, data = build(tmp_path, TRAIN, HELD)
    assert data["train"] + data["validation"] == "".join(TRAIN).encode()
    assert data["evaluation"] == "".join(HELD).encode()
    total = len(data["train"] + data["validation"])
    assert 0 <= len(data["train"]) - 0.9 * total < max(map(len, TRAIN))
    parts = {split: dict(part) for split, part in contents["splits"].items()}
    counts = {split: part.pop("documents") for split, part in parts.items()}
    assert counts["train"] + counts["validation"] == len(TRAIN)
    assert parts == {
        split: {"bytes": len(text), "sha256": sha256(text), "dropped": {"empty": 0, "duplicates": 0}}
        for split, text in data.items()
    }
    assert read_sealed(tmp_path / "corpus/manifest.json") == contents


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(["", "a", "b", "é", "dd", "eee", "ffff"]), min_size=4, max_size=30),
    st.lists(st.sampled_from(["", "a", "b", "g", "hh"]), min_size=2, max_size=10),
    st.sampled_from(["", "|"]),
    st.floats(0.1, 0.6),
)
def test_any_shards(tmp_path_factory, train, held, separator, share):
    train = ["first of them", *train, "the last of them"]
    held = [*held, "never seen"]
    border = round((1 - share) * sum(len(text.encode()) for text in train))
    starts = np.cumsum([0, *(len(text.encode()) for text in train)])[:-1]
    new = [(text, start) for text, start in zip(train, starts, strict=True) if text and text not in held]
    late = [text for text, start in new if start >= border]
    early = [text for text, start in new if start < border and text not in late]
    folder = tmp_path_factory.mktemp("any")
    if not late:
        with pytest.raises(UserError, match="the validation split has 0 bytes"):
            build(folder, train, held, separator=separator, validation=share)
        return
    contents, data = build(folder, train, held, separator=separator, validation=share)
    assert data["evaluation"].decode() == separator.join(text for text in held if text)
    assert data["validation"].decode() == separator.join(late)
    assert data["train"].decode() == separator.join(early)
    counts = {name: part["documents"] + sum(part["dropped"].values()) for name, part in contents["splits"].items()}
    assert (counts["train"] + counts["validation"], counts["evaluation"]) == (len(train), len(held))


def test_a_budget_takes_whole_documents_from_the_beginning(tmp_path):
    size = len("".join(TRAIN[:60]))
    contents, data = build(tmp_path, TRAIN, HELD, budget=size - 1)
    assert data["train"] + data["validation"] == "".join(TRAIN[:60]).encode()
    assert contents["settings"] == {"validation": 0.1, "separator": ""}
    assert build(tmp_path, TRAIN, HELD, budget=size)[1] == data
    size = len("".join(TRAIN))
    assert build(tmp_path, TRAIN, HELD, budget=size)[1] == build(tmp_path, TRAIN, HELD)[1]
    with pytest.raises(UserError, match=rf"a budget of 1,000,000 bytes, but 0\.parquet, 1\.parquet hold {size:,} by"):
        build(tmp_path, TRAIN, HELD, budget=1_000_000)


def test_a_small_split_is_named(tmp_path):
    with pytest.raises(UserError, match=r"the evaluation split has .* 9,999 are needed: name more shards in corpus"):
        build(tmp_path, TRAIN, HELD, at_least={"evaluation": 9999})
    with pytest.raises(UserError, match=r"the validation split has 0 bytes in 0 documents"):
        build(tmp_path, ["one text"], HELD)
    assert not (tmp_path / "corpus/train.bin").exists()


def test_a_manifest_of_shards_that_changed_is_refused(tmp_path):
    path = tmp_path / "corpus.json"
    manifest = {"folder": "assets", "files": {}, "train": {"budget": 5}, "evaluation": {"budget": 5}}
    write_sealed(path, manifest)
    assert read_fetched(path) == manifest
    path.write_text(path.read_text().replace('"budget": 5', '"budget": 4', 1))
    with pytest.raises(UserError, match=r"corpus\.json: changed or damaged since it was written"):
        read_fetched(path)
    for text in ("", "[]", '{"folder": "assets", "files": {}}'):
        path.write_text(text)
        with pytest.raises(UserError, match=r"corpus\.json: not a manifest of fetched"):
            read_fetched(path)


def test_shards_that_changed_are_refused(tmp_path):
    path = shard(tmp_path / "sample/0.parquet", TRAIN)
    data = path.read_bytes()
    files = {"sample/0.parquet": {"size": len(data), "sha256": sha256(data)}}
    role = {"shards": list(files), "texts": list(files), "budget": 5}
    manifest = {"folder": str(tmp_path), "files": files, "train": role, "evaluation": role}
    assert open_shards(manifest, "text")["train"] == Shards([path], "text", 5)
    for damaged, message in (
        (data[:-1], rf"has {len(data) - 1:,} bytes, not {len(data):,}"),
        (data[:-1] + b"?", "has changed since its checksum was taken"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"0\.parquet {message}; run `snakemake assets"):
            open_shards(manifest, "text")
    path.unlink()
    with pytest.raises(UserError, match=r"0\.parquet is missing"):
        open_shards(manifest, "text")


MEASURED = """
import resource, sys
sys.path.insert(0, "scripts")
from pathlib import Path
from oversmoothing.data.shards import Shards, build_from_shards
folder, count = Path(sys.argv[1]), int(sys.argv[2])
training = Shards([folder / f"{number}.parquet" for number in range(count)])
paths = {split: folder / f"{split}.bin" for split in ("train", "validation", "evaluation")}
build_from_shards(training, Shards([folder / "held.parquet"]), paths, folder / "manifest.json")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak(folder, shards):
    """Return the most memory in MB that building from some shards takes, in a process of its own."""
    command = [sys.executable, "-c", MEASURED, str(folder), str(shards)]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    words = "many words " * 300
    for name in ("held", *range(10)):
        shard(tmp_path / f"{name}.parquet", [f"{name} {number} {words}" for number in range(2500)])
    small, large = peak(tmp_path, 2), peak(tmp_path, 10)
    assert (tmp_path / "train.bin").stat().st_size > 60e6
    assert large < small + 30, f"{small} MB for 17 MB of text, {large} MB for 83 MB"
