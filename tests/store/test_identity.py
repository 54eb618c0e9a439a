"""A file states its name and its sources, and no reader takes it for another."""

import json
import shutil
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors import safe_open

from oversmoothing import jobs
from oversmoothing.jobs import UserError
from oversmoothing.models.factored_head import read_factors
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.logit_files import head_file, logit_groups, save_head, states_batch, states_schema
from oversmoothing.models.logits import WindowStates
from oversmoothing.models.model import GPT
from oversmoothing.models.spectra import count_parameters, read_bias, read_facts, read_gain, read_head
from oversmoothing.models.weights import load_metadata, load_model, load_tensors, save_model, save_tensors
from oversmoothing.store.identity import SOURCES, TEXTS, check_identity, identity, name_of
from oversmoothing.store.parquet import open_writer, read_groups, read_table, write_table
from oversmoothing.store.sums import _stated, read_text, write_text

TABLE = pa.table({"value": [1.0]})
CONFIG = GPTConfig(layers=1, heads=2, width=8, block=8, rank=4)


@pytest.fixture(autouse=True)
def outside_a_job(monkeypatch):
    monkeypatch.setattr(jobs, "asked", {})


@pytest.fixture
def asked(tmp_path):
    """Return the function that sets what the running job reads and writes in the folder `results`."""

    def name(path):
        return path.relative_to(tmp_path / "results").as_posix()

    def ask(inputs=(), outputs=()):
        """Inputs are pairs of path and entry; outputs are paths."""
        jobs.asked["inputs"] = {str(path): {"file": name(path), "rule": "score"} | entry for path, entry in inputs}
        jobs.asked["outputs"] = {str(path): name(path) for path in outputs}

    return ask


@pytest.fixture
def made(tmp_path, asked):
    """Return the function that writes a result, as its job does."""

    def make(name, write=lambda path: write_table(path, TABLE, {}), sources=()):
        path = tmp_path / "results" / name
        asked([(tmp_path / "results" / source, {"recorded": True} | entry) for source, entry in sources], [path])
        write(path)
        jobs.asked.clear()
        return path

    return make


def write_weights(path):
    save_model(path, CONFIG, GPT(CONFIG, 1).state_dict(), {})


def write_factors(path):
    save_tensors(path, {"A": torch.ones(3, 2), "B": torch.ones(2, 4)}, {})


def test_an_output_states_its_name_and_its_sources_without_the_results_folder(made, tmp_path):
    sources = [
        ("windows.parquet", {"settings": {"count": 6}}),
        ("models/bn4/weights.safetensors", {}),
        ("tokens/tokenizer.json", {"recorded": False}),
    ]
    path = made("logits/bn4.parquet", sources=sources)
    stated = pq.read_schema(path).metadata
    assert stated[b"file"] == b"logits/bn4.parquet"
    assert json.loads(stated[b"made_from"]) == {"windows.parquet": {"count": 6}, "models/bn4/weights.safetensors": None}
    assert str(tmp_path).encode() not in path.read_bytes()
    with safe_open(made("models/bn4/weights.safetensors", write_weights), "np") as file:
        assert file.metadata()["file"] == "models/bn4/weights.safetensors"


def test_what_no_job_writes_states_nothing(tmp_path):
    write_table(tmp_path / "a.parquet", TABLE, {})
    assert b"file" not in pq.read_schema(tmp_path / "a.parquet").metadata
    assert (name_of("a.parquet"), identity("a.parquet")) == (None, {})


WEIGHTS = ("models/bn4-s2/weights.safetensors", "models/bn4-s1/weights.safetensors", write_weights)
FACTORS = ("heads/ab4-s2/weights.safetensors", "heads/ab4-s1/weights.safetensors", write_factors)
DOORS = [
    ("logits/bn4-s2.parquet", "logits/bn4-s1.parquet", None, read_table),
    ("scores/nsmd/bn4.parquet", "scores/tv/bn4.parquet", None, read_table),
    ("samples/bn4/pure.parquet", "samples/bn4/greedy.parquet", None, lambda path: list(read_groups(path, ["value"]))),
    *[(*WEIGHTS, door) for door in (load_metadata, load_tensors, load_model, count_parameters)],
    *[(*WEIGHTS, door) for door in (read_head, read_bias, read_gain, read_facts)],
    (*FACTORS, read_factors),
]


@pytest.mark.parametrize(("name", "place", "write", "read"), DOORS)
def test_no_door_lets_one_result_pass_for_another(made, asked, tmp_path, name, place, write, read):
    """Within a job, where the plan names its inputs, and outside, where the folder says enough."""
    path = made(name, write) if write else made(name)
    other = tmp_path / "results" / place
    other.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, other)
    for begin in (lambda: None, lambda: asked([(path, {}), (other, {})])):
        begin()
        read(path)
        with pytest.raises(UserError, match=f"{place}: holds {name}, not {place}; put the right file there, or delete"):
            read(other)


def test_a_snapshot_is_known_by_the_name_of_its_folder(made, asked, tmp_path):
    folder = "models/bn4/snapshots"
    path = made(f"{folder}/00000004.safetensors", write_weights)
    asked([(path.parent, {})])
    load_metadata(path)
    shutil.copy(path, path.with_name("00000008.safetensors"))
    message = rf"holds {folder}/00000004\.safetensors, not .*; .* delete .*snapshots and run"
    with pytest.raises(UserError, match=message):
        load_metadata(path.with_name("00000008.safetensors"))


def test_in_a_job_the_plan_says_more_than_the_folder(made, asked, tmp_path):
    path = made("logits/bn4.parquet")
    shown = tmp_path / "results/showcase/logits/bn4.parquet"
    shown.parent.mkdir(parents=True)
    shutil.copy(path, shown)
    read_table(shown)
    asked([(shown, {})])
    with pytest.raises(UserError, match=r"holds logits/bn4\.parquet, not showcase/logits/bn4\.parquet"):
        read_table(shown)


def test_files_of_the_user_and_moved_folders_pass(made, asked, tmp_path):
    path = made("models/bn4/weights.safetensors", write_weights)
    shutil.copy(path, tmp_path / "mine.safetensors")
    load_model(tmp_path / "mine.safetensors")
    shutil.copytree(tmp_path / "results", tmp_path / "elsewhere/moved")
    load_model(tmp_path / "elsewhere/moved/models/bn4/weights.safetensors")
    mine = tmp_path / "models/mine/weights.safetensors"
    mine.parent.mkdir(parents=True)
    shutil.copy(path, mine)
    asked(outputs=[tmp_path / "results/models/truth/weights.safetensors"])  # adopts it, and no rule makes it
    load_model(mine)


def write_states(path, seed):
    post, head = (np.random.default_rng(seed).normal(size=(n, 4)).astype(np.float32) for n in (5, 7))
    state = WindowStates(0, np.zeros(5, np.int32), np.zeros((5, 7), np.float32), post, post)
    tie = save_head(head_file(path), head, None, {})
    with open_writer(path, states_schema(4, "float32"), tie) as writer:
        writer.write_batch(states_batch(state, "float32"))


def test_states_are_read_with_the_head_that_they_were_written_with(tmp_path):
    """Of two heads of one width, neither of which states a name."""
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    for seed, path in enumerate((one, other)):
        write_states(path, seed)
    next(logit_groups(one))
    shutil.copy(head_file(other), head_file(one))
    with pytest.raises(UserError, match=rf"one\.head\.safetensors: not the head that {one} was written with; delete"):
        next(logit_groups(one))


def read_as(asked, path, entry, sources=()):
    """Read a file in a job that asks for an entry, and for entries of its sources."""
    results = path.parents[1]
    asked([(path, entry), *((results / source, more) for source, more in sources)])
    read_table(path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tau": 0.8}, "a.parquet: made with tau 0.8 and not 0.9; run again with --forcerun score"),
        ({"model": {"rank": 4, "width": 8}}, "made with model.rank 4 and not 8"),
        ({"decodings": ["pure", "eta"]}, r'made with decodings \["pure", "eta"\] and not \["pure", "greedy"\]'),
    ],
)
def test_an_input_made_with_other_settings_is_named(made, asked, settings, message):
    now = {"settings": {"tau": 0.9, "model": {"rank": 8}, "decodings": ["pure", "greedy"]}}
    path = made("scores/a.parquet", lambda path: write_table(path, TABLE, {"settings": json.dumps(settings)}))
    with pytest.raises(UserError, match=message):
        read_as(asked, path, now)
    source = ("models/bn4/weights.safetensors", {"settings": settings})
    path = made("scores/a.parquet", sources=[source])
    read_as(asked, path, {}, [source])
    with pytest.raises(UserError, match=f"a.parquet: made from {source[0]}, which was {message.rpartition(': ')[2]}"):
        read_as(asked, path, {}, [(source[0], now)])


@pytest.mark.parametrize("settings", [{}, {"tau": 0.9}, {"decodings": ["greedy"]}, {"since": 1, "model": {}}])
def test_an_input_that_fits_or_says_nothing_passes(asked, tmp_path, settings):
    path = tmp_path / "results/a.parquet"
    asked([(path, {"settings": {"tau": 0.9, "model": {"rank": 8}, "decodings": ["pure", "greedy"]}})])
    check_identity(path, {"settings": json.dumps(settings)})
    check_identity(path, {"made_from": json.dumps({"gone.parquet": {"tau": 0.8}, "a.parquet": None})})
    check_identity(path, {})
    check_identity(tmp_path / "b.parquet", {"settings": '{"tau": 0.8}'})


@pytest.mark.parametrize("key", ["settings", SOURCES, TEXTS])
@pytest.mark.parametrize("text", ['{"a": 1', "[1]", "3", "[" * 100_000])
def test_an_identity_that_is_damaged_is_named(asked, tmp_path, key, text):
    """The hidden file beside a table has no seal."""
    path = tmp_path / "results/tables/a.csv"
    asked([(path, {})])
    with pytest.raises(UserError, match=rf"a\.csv: what it states of itself is damaged \({key}\); delete it and run"):
        check_identity(path, {key: text})


def test_no_flip_of_the_hidden_file_makes_a_table_state_less(made, tmp_path):
    path = made(
        "tables/a.csv", lambda path: write_text(path, "x\n"), [("logits/bn4.parquet", {"settings": {"tau": 1}})]
    )
    hidden = path.with_name(".a.csv.sha256")
    content = hidden.read_bytes()
    stated = _stated(hidden)
    assert stated["file"] == "tables/a.csv"
    assert read_text(path) == "x\n"
    for damaged in (bytes(len(content)), *(flipped(content, bit) for bit in range(8 * len(content)))):
        hidden.write_bytes(damaged)
        with suppress(UserError):
            read_text(path)
            assert _stated(hidden) == stated


def flipped(content, bit):
    return content[: bit // 8] + bytes([content[bit // 8] ^ 1 << bit % 8]) + content[bit // 8 + 1 :]
