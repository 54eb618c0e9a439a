"""Shards -> splits: the thesis's cut, disjoint by document, within a budget, in memory that does not grow."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.data import columnar
from oversmoothing.data.shards import Shards, build_from_shards, read_fetched
from oversmoothing.data.splits import SPLITS
from oversmoothing.jobs import UserError
from oversmoothing.store.sealed_json import read_sealed

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
    monkeypatch.setattr(columnar, "ROWS", 8)
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
    st.lists(st.sampled_from([None, "", "a", "b", "é", "dd", "eee", "ffff"]), min_size=4, max_size=30),
    st.lists(st.sampled_from([None, "", "a", "b", "g", "hh"]), min_size=2, max_size=10),
    st.sampled_from(["", "|"]),
    st.floats(0.1, 0.6),
)
def test_any_shards(tmp_path_factory, train, held, separator, share):
    train = ["first of them", *train, "the last of them"]
    held = [*held, "never seen"]
    shards = train, held
    train, held = ([text or "" for text in texts] for texts in shards)
    border = round((1 - share) * sum(len(text.encode()) for text in train))
    starts = np.cumsum([0, *(len(text.encode()) for text in train)])[:-1]
    new = [(text, start) for text, start in zip(train, starts, strict=True) if text and text not in held]
    late = [text for text, start in new if start >= border]
    early = [text for text, start in new if start < border and text not in late]
    folder = tmp_path_factory.mktemp("any")
    if not late:
        with pytest.raises(UserError, match="the validation split has 0 bytes"):
            build(folder, *shards, separator=separator, validation=share)
        return
    contents, data = build(folder, *shards, separator=separator, validation=share)
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


def test_a_manifest_of_other_files_is_refused(tmp_path):
    path = tmp_path / "corpus.json"
    path.write_text('{"folder": "assets", "files": {}}')
    with pytest.raises(UserError, match=r"corpus\.json: not a manifest of fetched"):
        read_fetched(path)


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    pool, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    train = [f"{number} {'many words ' * 300}" for number in range(8000)]
    pa.set_memory_pool(pool)
    try:
        _, data = build(tmp_path, train, HELD)
    finally:
        pa.set_memory_pool(before)
    assert len(data["train"]) > 20e6
    assert pool.max_memory() < 30e6  # of Arrow; all texts at once take 40 MB
