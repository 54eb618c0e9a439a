"""Shards from a hub on this machine and from a local folder; what goes wrong on the way."""

import io
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from local_hub import Repo, local_hub, point_to

from oversmoothing.data import fineweb
from oversmoothing.data.fineweb import fetch_shards
from oversmoothing.data.shards import build_from_shards, open_shards, shard_facts
from oversmoothing.data.splits import SPLITS
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import write_table

NAME = "HuggingFaceFW/fineweb"
NAMES = [f"sample/10BT/{number:03}_00000.parquet" for number in (0, 1, 14)]


def shard_bytes(seed, rows=300):
    """Make a shard with FineWeb's columns, or some of them, in row groups."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(500)]
    texts = [f"{' '.join(draw.choices(words, k=40)).capitalize()}. Number {row} of {seed}." for row in range(rows)]
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": texts, "id": list(map(str, range(rows)))}), sink, row_group_size=100)
    return sink.getvalue()


SHARDS = {name: shard_bytes(seed) for seed, name in enumerate(NAMES)}
SETTINGS = {
    **{"repository": NAME, "revision": "main", "column": "text"},
    **{"train": NAMES[:2], "evaluation": NAMES[2:], "train_bytes": None, "evaluation_bytes": None},
}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with local_hub({NAME: Repo(dict(SHARDS), kind="dataset")}) as hub:
        point_to(hub.address, monkeypatch, tmp_path)
        yield hub


def texts(name):
    return pq.read_table(io.BytesIO(SHARDS[name]))["text"].to_pylist()


def test_shards_of_the_hub_become_a_corpus(hub, tmp_path):
    manifest = fetch_shards(SETTINGS, tmp_path / "assets")
    assert manifest["commit"] == hub.repos[NAME].commit
    assert manifest["revision"] == "main"
    shards = open_shards(manifest, "text")
    paths = {split: tmp_path / f"{split}.bin" for split in SPLITS}
    contents = build_from_shards(
        shards["train"], shards["evaluation"], paths, tmp_path / "manifest.json", facts=shard_facts(manifest)
    )
    assert paths["evaluation"].read_text() == "".join(texts(NAMES[2]))
    assert paths["train"].read_text() + paths["validation"].read_text() == "".join(texts(NAMES[0]) + texts(NAMES[1]))
    assert contents["source"]["commit"] == manifest["commit"]
    assert sorted(contents["source"]["files"]) == NAMES
    assert str(tmp_path) not in str(contents)


def test_another_shard_leaves_those_that_are_there(hub, tmp_path):
    fetch_shards({**SETTINGS, "train": NAMES[:1]}, tmp_path)
    hub.requests.clear()
    manifest = fetch_shards(SETTINGS, tmp_path)
    assert sorted(manifest["files"]) == NAMES
    fetched = [
        request.split()[1].split("/")[-1]
        for request in hub.requests
        if request.startswith("GET") and "resolve" in request
    ]
    assert fetched == ["001_00000.parquet"]
    fetch_shards({**SETTINGS, "train": NAMES[1:2]}, tmp_path)
    assert (tmp_path / NAMES[0]).read_bytes() == SHARDS[NAMES[0]]
    hub.down = True  # what was fetched is enough
    assert fetch_shards(SETTINGS, tmp_path) == manifest


def test_a_local_folder_in_the_hubs_layout(tmp_path):
    for name, data in SHARDS.items():
        path = tmp_path / "mirror" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    settings = {**SETTINGS, "repository": str(tmp_path / "mirror"), "train_bytes": 20_000}
    manifest = fetch_shards(settings, tmp_path / "assets")
    assert not (tmp_path / "assets").exists()
    assert manifest["commit"] is None
    shards = open_shards(manifest, "text")
    assert shards["train"].size() >= 20_000 > shards["train"].size() - max(map(len, texts(NAMES[0])))
    assert str(tmp_path) not in str(shard_facts(manifest))
    with pytest.raises(UserError, match=r"it has no file sample/10BT/099_00000\.parquet"):
        fetch_shards({**settings, "train": ["sample/10BT/099_00000.parquet"]}, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repository": "HuggingFaceFW/fineweeb"}, "HuggingFaceFW/fineweeb@main: no such repository"),
        ({"train": ["sample/10BT/000_00001.parquet"]}, r"fineweb@.*: it has no file sample/10BT/000_00001\.parquet;"),
    ],
)
def test_what_the_hub_does_not_have(hub, tmp_path, change, message):
    with pytest.raises(UserError, match=message):
        fetch_shards({**SETTINGS, **change}, tmp_path)
    assert not list(tmp_path.rglob("*.parquet"))


def test_the_first_bytes_are_kept_as_long_as_they_are_what_was_written(hub, tmp_path, monkeypatch):
    streamed = []

    def stream(_, files, column, budget, path):
        write_table(path, pa.table({column: texts(files[0])[:budget]}), {})
        streamed.append(path)

    monkeypatch.setattr(fineweb, "stream_texts", stream)
    settings = {**SETTINGS, "train_bytes": 20, "evaluation_bytes": 30}
    first = fetch_shards(settings, tmp_path)
    assert fetch_shards(settings, tmp_path) == first
    assert len(streamed) == 2
    whole = streamed[0].read_bytes()
    streamed[0].write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(UserError, match=r"has changed since its checksum was taken; run `snakemake assets --forcerun"):
        open_shards(first, "text")
    assert fetch_shards(settings, tmp_path) == first  # as the message says
    assert streamed[0].read_bytes() == whole
    streamed[0].write_bytes(whole[: len(whole) // 2])  # without its seal, which is at the end
    assert fetch_shards(settings, tmp_path) == first
    assert streamed[0].read_bytes() == whole
    assert len(streamed) == 4
