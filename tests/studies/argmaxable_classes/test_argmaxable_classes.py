"""Tables B.1 and B.2: the transcription, the classes of a model on disk, and what people read."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from markdown_it import MarkdownIt
from safetensors.numpy import save_file
from step_jobs import job

import measure
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.tables.formats import latex, markdown
from studies.argmaxable_classes.table import argmaxability_page, argmaxability_table, read_published_sets

PUBLISHED = Path(__file__).resolve().parents[3] / "resources/published/table_b.csv"
MODELS = [
    {"model": "bn4-s1", "rank": 4, "seed": 1, "published_as": "4", "differs": ["data", "tau"]},
    {"model": "bn64-s1", "rank": 64, "seed": 1, "published_as": "64", "differs": ["data"]},
    {"model": "bn288-s1", "rank": 288, "seed": 1, "published_as": "512", "differs": ["data", "scale", "rank"]},
]
PUNCTUATION = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
OURS = {*range(9), *b"0123x", *PUNCTUATION}  # that rank 4 cannot predict from any state


def classes(sets):
    """Make the rows of {(model, condition): unargmaxable bytes}."""
    rows = [
        {"model": model, "condition": condition, "class": b, "argmaxable": b not in unargmaxable}
        for (model, condition), unargmaxable in sets.items()
        for b in range(256)
    ]
    return pd.DataFrame(rows)


def listed(hexadecimal):
    return {int(value, 16) for value in hexadecimal.split()}


def rendered(text):
    """Cells of the rows of a Markdown table, as a browser shows them."""
    html = MarkdownIt("commonmark").enable("table").render(text)
    return [list(map(unescape, re.findall(r"<td[^>]*>(.*?)</td>", row))) for row in html.split("<tr>")[2:]]


@pytest.fixture
def published():
    return read_published_sets(PUBLISHED)


@pytest.fixture
def table(published):
    sets = {(model["model"], condition): set() for model in MODELS for condition in ("free", "reachable")}
    sets |= {("bn4-s1", "free"): OURS, ("bn4-s1", "reachable"): set(range(250))}
    return argmaxability_table(classes(sets), MODELS, published)


def test_transcription_has_the_thesis_counts_and_spares_what_text_is_made_of(published):
    assert published["count"].to_dict() == {"4": 214, "8": 107, "12": 53, "16": 43, "32": 19, "128": 0, "512": 0}
    missing = published["count"] - published.bytes.map(len)
    # At rank 4 the text of the thesis lists 213 (the 214th is lost in a run of punctuation).
    assert missing.to_dict() == {"4": 1, "8": 0, "12": 0, "16": 0, "32": 0, "128": 0, "512": 0}
    assert not any(bytes_ & set(b" \netaoinshr.,") for bytes_ in published.bytes)
    assert published.bytes["32"] == listed("01 08 0D 11 12 1B 1C 1E 7F F1 F2 F5 F6 F7 F8 FA FB FD FE")


def test_ours_beside_the_published(table, published):
    rows = table.set_index(["model", "condition", "measure"]).sort_index()
    first = rows.loc["bn4-s1", "free"]
    assert first.value["unargmaxable"] == len(OURS)
    assert first.published[["unargmaxable", "unlisted"]].tolist() == [214, 1]
    theirs = published.loc["4", "bytes"]
    assert (listed(first.note["only_ours"]), listed(first.note["only_published"])) == (OURS - theirs, theirs - OURS)
    assert rows.value["bn4-s1", "reachable", "unargmaxable"] == 250
    assert rows.published["bn4-s1", "reachable"].isna().all()  # the thesis looked at the head alone
    assert rows.published["bn64-s1"].isna().all()  # the thesis has no rank 64
    wide = rows.loc["bn288-s1", "free", "unargmaxable"]
    assert (wide.published_model, wide.published) == ("512", 0)
    assert "only_ours" not in rows.loc["bn288-s1", "free"].index
    assert first.published_differs["unargmaxable"] == "data"


def test_undecided_bytes_are_a_bracket(published):
    decided = classes({("bn4-s1", "free"): {0xFF}, ("bn4-s1", "reachable"): {1, 2}}).astype({"argmaxable": object})
    decided.loc[(decided.condition == "free") & decided["class"].isin([0, 0xFE]), "argmaxable"] = None
    table = argmaxability_table(decided, MODELS[:1], published)
    rows = table.set_index(["condition", "measure"])
    values = {name: rows.value.xs(name, level="measure").tolist() for name in ("unargmaxable", "undecided")}
    assert values == {"unargmaxable": [1, 2], "undecided": [2, 0]}
    assert rows.note["free", "unargmaxable"] == "FF"
    assert listed(rows.note["free", "only_published"]) == published.loc["4", "bytes"] - {0, 0xFE, 0xFF}
    page = markdown(argmaxability_page(table, "Title."))
    assert "1 to 3" in page
    assert "the second also those left undecided" in page


def test_markdown_renders_every_name(table):
    text = markdown(argmaxability_page(table, "Title."))
    rows = rendered(text)
    assert [len(row) for row in rows] == [7] * 6
    assert rows[0][4].split() == ["NUL..BS", *"!\"#$%&'()*+,-./", "0..3", *":;<=>?@[\\]^_`", "x", *"{|}~"]
    assert rows[1][1:4] == ["h after the LayerNorm", "250", "-"]
    assert rows[4][4] == "none"
    for sentence in (
        "approximate search, so they are upper bounds",
        "another corpus and larger models: compare trends, not bytes",
        "Of the 214 published at rank 4, 1 is not legible",
        "Rank 288 stands beside the thesis's 512",
    ):
        assert sentence in text


def test_latex_is_balanced_and_escaped(table):
    comment, text = latex(argmaxability_page(table, "Title.")).split("\n", 1)
    assert comment.startswith("% needs ")
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    for escaped in (r"\%", r"\#", r"\&", r"\$", r"\_", r"\{", r"\}", r"\textbackslash{}", r"\textasciitilde{}"):
        assert escaped in text
    assert not re.search(r"(?<!\\)[%#$]", text)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [6] * 7


def save_model(path, rank, norm, seed=0):
    draw = np.random.default_rng(seed)
    tensors = {"head.weight": draw.normal(size=(256, rank)), "norm.weight": draw.uniform(0.5, 2, rank)}
    config = {"rank": rank, "bottleneck_norm": norm, "width": 300}
    save_file({k: v.astype(np.float32) for k, v in tensors.items()}, path, {"config": json.dumps(config)})


def run_script(tmp_path, hidden=()):
    inputs = {"weights": str(tmp_path / "w.safetensors"), "hidden": hidden}
    measure.main(job(inputs, tmp_path / "out.parquet", {}, {"measure": "argmaxability"}, model="bn4-s1"))
    return read_table(tmp_path / "out.parquet")


def test_classes_of_a_model_on_disk(tmp_path):
    save_model(tmp_path / "w.safetensors", 4, "after")
    table = run_script(tmp_path)
    assert table.schema.metadata[b"model"] == b"bn4-s1"
    rows = table.to_pandas()
    free, reachable = (rows[rows.condition == name].reset_index() for name in ("free", "reachable"))
    assert free["class"].tolist() == reachable["class"].tolist() == list(range(256))
    assert reachable.argmaxable.sum() < free.argmaxable.sum() < 256
    assert not (reachable.argmaxable & ~free.argmaxable).any()
    assert (rows.margin > 0).equals(rows.argmaxable)
    assert table["margin"].null_count == (~rows.argmaxable).sum()


def test_with_the_norm_before_the_bottleneck_every_h_is_reachable(tmp_path):
    save_model(tmp_path / "w.safetensors", 4, "before")
    rows = run_script(tmp_path).to_pandas()
    free, reachable = (rows[rows.condition == name].argmaxable.tolist() for name in ("free", "reachable"))
    assert free == reachable


def test_hidden_states_are_tried_first(tmp_path):
    save_model(tmp_path / "w.safetensors", 4, "after")
    alone = run_script(tmp_path).to_pandas()
    states = np.random.default_rng(1).normal(size=(2000, 4)).astype(np.float32)
    column = pa.FixedSizeListArray.from_arrays(states.ravel(), 4)
    write_table(tmp_path / "hidden.parquet", pa.table({"post": column}), provenance({}))
    rows = run_script(tmp_path, hidden=str(tmp_path / "hidden.parquet")).to_pandas()
    assert rows.argmaxable.tolist() == alone.argmaxable.tolist()
    assert (rows.margin[:256].fillna(0) >= 0).all()
    assert rows.margin[256:].equals(alone.margin[256:])  # those of the LayerNorm are not tried
    assert not rows.margin[:256].equals(alone.margin[:256])


def test_undecided_classes_are_null(tmp_path):
    draw, config = np.random.default_rng(0), {"config": json.dumps({"rank": 6, "bottleneck_norm": "before"})}
    columns = draw.normal(size=(40, 3)), 1e-14 * draw.normal(size=(40, 3))
    head = np.concatenate(columns, axis=1).astype(np.float32)  # of lower rank only up to rounding
    save_file({"head.weight": head}, tmp_path / "w.safetensors", config)
    table = run_script(tmp_path)
    assert 0 < table["argmaxable"].null_count < 80
    assert table["margin"].null_count >= table["argmaxable"].null_count


def test_a_head_with_nan_is_named(tmp_path):
    config = {"config": json.dumps({"rank": 6, "bottleneck_norm": "before"})}
    save_file({"head.weight": np.array([[1, 2], [np.nan, 1]])}, tmp_path / "w.safetensors", config)
    with pytest.raises(UserError, match=r"w\.safetensors: .*row 1 has NaN"):
        run_script(tmp_path)


def test_of_a_head_alone_the_bias_counts_and_the_norm_is_not_known(tmp_path):
    """On a line the middle class is between the others, unless its bias lifts it above them."""
    weights, bias = np.array([[1.0], [0.0], [-1.0]], np.float32), np.array([0, 1, 0], np.float32)
    save_file({"head.weight": weights, "head.bias": bias}, tmp_path / "w.safetensors", {"head": "alone"})
    rows = run_script(tmp_path).to_pandas()
    assert rows.condition.tolist() == ["free"] * 3
    assert rows.argmaxable.tolist() == [True] * 3
    save_file({"head.weight": weights}, tmp_path / "w.safetensors", {"head": "alone"})
    assert run_script(tmp_path).to_pandas().argmaxable.tolist() == [True, False, True]
