"""From samples to rows: per sample, per set, over draws of windows; and the scripts, as Snakemake calls them."""

import json
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pytest
from default_config import DEFAULT
from step_jobs import job
from tiny_model import SETTINGS

import draw_windows
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table, write_table
from studies.sample_quality import human_features, language_model, measure, second_windows
from studies.sample_quality.measure import QUALITY, UNSCORED, quality
from studies.sample_quality.metrics import MEASURES
from studies.sample_quality.perplexity import Readings, read
from studies.sample_quality.readings import Samples, read_samples, read_with

COMPLETED = [name for name, measure in MEASURES.items() if measure.completed]
OPTIONS = {"batch": 2, "precision": "float32", "threads": 1, "resamples": 2, "seed": 1, "completed": COMPLETED}


def texts(n, seed=0):
    """Make n human texts and what a language model might make of them."""
    random = np.random.default_rng(seed)
    words = [f"{random.choice(['the', 'a', 'of'])} number {random.integers(99)} ".encode() * 2 for _ in range(n)]
    readings = Readings(random.uniform(2, 90, n), random.normal(size=(n, 8)).astype(np.float32))
    return Samples(np.arange(n), [b"Begin wi"] * n, [b"th " + text for text in words]), readings


def values(rows, metric):
    return [row for row in rows if row["metric"] == metric]


def test_human_texts_against_themselves():
    assert (
        DEFAULT["quality"]["completed"] == COMPLETED == ["perplexity", "mauve", "valid_words"]
    )  # as the thesis's code
    human, readings = texts(100)
    rows = quality(human, readings, human, readings.features, COMPLETED, resamples=3, seed=1)
    assert {row["value"] for row in values(rows, "mauve")} == {1.0}
    assert {row["value"] for row in values(rows, "byte_tv")} == {0.0}
    assert [row["resample"] for row in values(rows, "mauve")] == [None, 0, 1, 2]
    assert len(rows) == 5 * 100 + 2 * 4


def test_a_set_that_is_not_read_has_neither_perplexity_nor_mauve():
    human, readings = texts(3)
    read_rows, rows = (quality(human, by, human, readings.features, COMPLETED, 2, 1) for by in (readings, None))
    assert rows == [row for row in read_rows if row["metric"] not in ("perplexity", "mauve")]


@pytest.mark.parametrize(
    ("completed", "values"),
    [  # rld is the | world is the | world is: where the prompt's "wo" is read, the first word is "world"
        (COMPLETED, {"bigram": 6 / 7, "loop": 0.0, "valid_words": 1.0, "word_length": 25 / 8}),
        (["bigram", "loop", "word_length"], {"bigram": 1.0, "loop": 0.0, "valid_words": 7 / 8, "word_length": 27 / 8}),
    ],
)
def test_rows_of_one_sample_by_hand(completed, values):
    human, readings = texts(1)
    samples = Samples(np.array([7]), [b"The wo"], [b"rld is the world is the world is "])
    rows = quality(samples, Readings(np.array([12.5]), readings.features), human, readings.features, completed, 2, 1)
    assert {row["metric"]: row["value"] for row in rows if row["window"] == 7} == {"perplexity": 12.5, **values}


def test_the_language_model_reads_the_text_of_each_metric(language_model):
    samples = Samples(np.arange(2), [b"The hou", b"A "], [b"se is here.", b"house, there."])
    raw, whole = (read(language_model, [text, "house, there."], 2) for text in ("se is here.", "house is here."))
    assert not np.allclose(whole.perplexity, raw.perplexity)
    for completed in (["perplexity"], ["mauve"], ["perplexity", "mauve"]):
        got = read_with(language_model, samples, 2, completed)
        perplexity = (whole if "perplexity" in completed else raw).perplexity
        features = (whole if "mauve" in completed else raw).features
        np.testing.assert_allclose(got.perplexity, perplexity, rtol=1e-5)
        np.testing.assert_allclose(got.features, features, rtol=1e-4, atol=1e-5)


def test_draws_are_of_windows_and_the_same_for_both_sets():
    human, readings = texts(100)
    first, again, other = (
        quality(*texts(100, seed=1), human, readings.features, COMPLETED, resamples=20, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other
    spread = np.std([row["value"] for row in values(first, "byte_tv")[1:]])
    assert 0 < spread < 0.05


def test_what_has_no_value_says_why():
    human, readings = texts(3)
    holed = Readings(np.array([2.0, np.nan, 3.0]), readings.features)
    rows = quality(human, holed, human, readings.features, COMPLETED, 2, 1)
    found = [(row["value"], row["note"]) for row in values(rows, "perplexity")]
    assert found == [(2.0, None), (None, UNSCORED), (3.0, None)]
    (row,) = values(rows, "mauve")
    assert (row["value"], row["note"]) == (None, "3 samples; MAUVE needs at least 100")


def test_samples_are_read_in_the_order_of_their_windows(tmp_path):
    columns = {"window": pa.array([1, 0], pa.int32()), "prompt": [b"p1", b"p0"], "continuation": [b"c1", b"c0"]}
    write_table(tmp_path / "s.parquet", pa.table(columns), {})
    samples = read_samples(tmp_path / "s.parquet")
    assert (samples.prompts, samples.continuations) == ([b"p0", b"p1"], [b"c0", b"c1"])
    with pytest.raises(UserError, match=r"s\.parquet: no column 'scored'"):
        read_samples(tmp_path / "s.parquet", "scored")
    write_table(tmp_path / "empty.parquet", pa.table(columns).slice(0, 0), {})
    with pytest.raises(UserError, match=r"empty\.parquet: it contains no samples"):
        read_samples(tmp_path / "empty.parquet")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    text = [f"Sentence {n} is here. It says {n * 7919}, and no more than that.\n\n" for n in range(2000)]
    splits = {"train": "".join(text[:1000]).encode(), "validation": b"x", "evaluation": "".join(text[1000:]).encode()}
    for name, data in splits.items():
        (folder / f"{name}.bin").write_bytes(data)
    parts = {name: {"bytes": len(data), "sha256": sha256(data).hexdigest()} for name, data in splits.items()}
    (folder / "manifest.json").write_text(json.dumps({"splits": parts}))
    return folder


def test_from_corpus_to_quality(corpus, tmp_path):
    inputs = {"manifest": corpus / "manifest.json", "tokenizer": []}
    settings = {"count": 5, "prompt": 10, "scored": 40, "seed": 3}
    windows, second = tmp_path / "windows.parquet", tmp_path / "second_windows.parquet"
    evaluation = inputs | {"evaluation": corpus / "evaluation.bin"}
    draw_windows.main(job(evaluation, windows, settings))
    second_windows.main(job(evaluation, second, settings))
    model = tmp_path / "language_model"
    training = {**SETTINGS, "precision": "float32", "threads": 1, "seed": 1}
    language_model.main(job(inputs | {"training": corpus / "train.bin"}, model, training))
    out = tmp_path / "human_quality.parquet"
    human = OPTIONS | {"sets": (both := ["first", "second"]), "reads": both, "column": "scored"}
    read = {"windows": windows, "language_model": model}
    reading = job(read, features := tmp_path / "human_features.parquet", OPTIONS)
    reading.params.language_model = None
    human_features.main(reading)
    judging = job(read | {"samples": [windows, second], "human_features": features}, out, human)
    judging.params.language_model = None
    measure.main(judging)
    table = read_table(out)
    few = read_table(windows).slice(0, 4)
    write_table(second, few, {})
    with pytest.raises(UserError, match=r"second_windows.parquet: 4 samples, but 5 windows: delete the samples"):
        measure.main(judging)
    assert table.schema.remove_metadata().equals(QUALITY)
    assert table.schema.metadata[b"gpt2_large"] == b"False"
    frame = table.to_pandas()
    first, other = (frame[frame.decoding == name] for name in ("first", "second"))
    assert first.window.dropna().unique().tolist() == [0, 1, 2, 3, 4]
    assert other.window.dropna().unique().tolist() == [5, 6, 7, 8, 9]
    assert (first[first.metric == "byte_tv"].value == 0).all()
    assert (other[other.metric == "byte_tv"].value > 0).all()
    assert (frame[frame.metric == "perplexity"].value > 1).all()


def test_second_windows_overlap_no_first_ones(corpus, tmp_path):
    inputs = {"evaluation": corpus / "evaluation.bin", "manifest": corpus / "manifest.json", "tokenizer": []}
    settings = {"count": 100, "prompt": 10, "scored": 40, "seed": 1}
    draw_windows.main(job(inputs, tmp_path / "first.parquet", settings))
    second_windows.main(job(inputs, tmp_path / "second.parquet", settings))
    first, second = (read_table(tmp_path / f"{name}.parquet") for name in ("first", "second"))
    assert first.schema.remove_metadata().equals(second.schema.remove_metadata())
    offsets = np.sort(np.concatenate([first["offset"].to_numpy(), second["offset"].to_numpy()]))
    assert len(offsets) == 200
    assert np.diff(offsets).min() >= 50
    assert second.schema.metadata[b"starts"] == first.schema.metadata[b"starts"] == b"sentence"
    # Second windows start as the first ones do: with others, these would not be among twice as many.
    with pytest.raises(UserError, match=r"too short for 1,200 .*\d fit, each at the start of a sentence\)"):
        second_windows.main(job(inputs, tmp_path / "none.parquet", settings | {"count": 600}))
