"""Table 7.3: drawn rows of logits and hidden states, their ranks, and what people read."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import save_file
from scipy.special import softmax
from step_jobs import job, outputs

import measure as step
from oversmoothing.jobs import UserError
from oversmoothing.measures.entries.ranks import matrices, ranks
from oversmoothing.measures.sample import Sample, read_sample
from oversmoothing.models.drawn_rows import draw_rows
from oversmoothing.models.heads import ModelHead, read_model_head
from oversmoothing.models.logits import WindowStates, hidden_schema, logits_schema
from oversmoothing.store.parquet import open_writer, read_table, write_table
from oversmoothing.tables.record import read_record
from studies.representation_ranks import table as shown

PUBLISHED = Path(__file__).resolve().parents[3] / "resources/published/table_7_3.csv"
V, WIDTH, RANK = 40, 24, 6
SIZES = (50, 30, 70)  # rows of the windows, which need not be alike
SETTINGS = {"positions": 64, "seed": 7}


def save_model(folder, norm="after", bad=None):
    """Write what a model with a bottleneck leaves behind: weights, logits, hidden states."""
    draw = np.random.default_rng(0)
    down, head = draw.normal(size=(WIDTH, RANK)), draw.normal(size=(V, RANK)).astype(np.float32)
    gain = draw.uniform(0.5, 2, RANK if norm == "after" else WIDTH).astype(np.float32)
    config = {"rank": RANK, "bottleneck_norm": norm, "width": WIDTH}
    save_file({"head.weight": head, "norm.weight": gain}, folder / "w.safetensors", {"config": json.dumps(config)})
    with (
        open_writer(folder / "logits.parquet", logits_schema(V), {}) as logits,
        open_writer(folder / "hidden.parquet", hidden_schema(WIDTH, RANK), {}) as hidden,
    ):
        for window, size in enumerate(SIZES):
            pre = draw.normal(size=(size, WIDTH)) * np.linspace(3, 0.1, WIDTH)
            post = pre @ down
            if norm == "after":
                post -= post.mean(axis=1, keepdims=True)
                post = gain * post / post.std(axis=1, keepdims=True)
            post = post.astype(np.float32)
            outputs = post @ head.T
            if bad is not None:
                outputs[:, 3] = bad
            targets = draw.integers(0, V, size)
            states = WindowStates(window, targets, outputs, pre.astype(np.float32), post)
            logits.write_batch(states.logits_batch())
            hidden.write_batch(states.hidden_batch())
    return folder


def run_script(folder):
    files = {name: folder / f"{name}.parquet" for name in ("logits", "hidden")}
    step.main(
        job(
            files | {"weights": folder / "w.safetensors"},
            folder / "ranks.parquet",
            SETTINGS,
            {"measure": "ranks"},
            model="bn6-s1",
        )
    )
    return read_table(folder / "ranks.parquet").to_pandas().set_index(["representation", "measure"])


@pytest.mark.parametrize("norm", ["after", "before"])
def test_a_norm_after_the_bottleneck_costs_a_dimension(tmp_path, norm):
    found = run_script(save_model(tmp_path, norm))
    lost = norm == "after"
    numerical = found.value.xs("numerical_rank", level="measure").to_dict()
    assert numerical.pop("probabilities") == V or not lost
    expected = {"logits": RANK - lost, "post": RANK - lost, "pre": WIDTH, "head": RANK}
    assert numerical == expected | ({"reachable_head": RANK - 1} if lost else {})
    assert found.loc["logits", "n"].eq(64).all()
    assert found.loc["head", ["n", "d"]].drop_duplicates().to_numpy().tolist() == [[V, RANK]]
    head = read_model_head(tmp_path / "w.safetensors")
    own = matrices(read_sample(tmp_path / "logits.parquet", tmp_path / "hidden.parquet", head, 64, 7))
    rows = draw_rows(tmp_path / "logits.parquet", 64, 7)
    for name, file in (("logits", "logits"), ("post", "hidden"), ("pre", "hidden")):
        whole = np.array(read_table(tmp_path / f"{file}.parquet")[name].to_pylist(), np.float32)
        np.testing.assert_array_equal(own[name], whole[rows])
    np.testing.assert_allclose(own["probabilities"], softmax(own["logits"].astype(float), axis=1), rtol=1e-12)
    for name, matrix in own.items():
        sigma = np.linalg.svd(matrix.astype(float), compute_uv=False)
        shares = sigma[sigma > 1e-12 * sigma[0]] / sigma.sum()
        assert found.value[name, "effective_rank"] == pytest.approx(np.prod(shares**-shares))
        assert found.value[name, "above_threshold"] == (sigma > 0.01 * sigma[0]).sum()


def test_logits_that_are_not_finite_are_named(tmp_path):
    with pytest.raises(UserError, match=r"logits"):
        run_script(save_model(tmp_path, bad=np.inf))


def test_a_matrix_without_a_rank_is_named():
    with pytest.raises(ValueError, match="post: NaN"):
        ranks(Sample(np.eye(3), np.full((3, 3), np.nan), np.eye(3), ModelHead(np.eye(3))))


def test_hidden_states_of_other_windows(tmp_path):
    folder = save_model(tmp_path)
    hidden = read_table(folder / "hidden.parquet")
    other = hidden.set_column(0, hidden.schema.field(0), pa.array(np.full(150, 9, np.int32)))
    for table in (other, hidden.slice(0, 149)):
        with open_writer(folder / "hidden.parquet", hidden.schema, {}) as writer:
            writer.write_table(table)
        with pytest.raises(UserError, match=r"hidden\.parquet: other windows than .*logits\.parquet"):
            run_script(folder)


MODELS = [
    {"model": "bn4-s1", "rank": 4, "seed": 1, "published_as": "4", "differs": ["data", "tau"]},
    {"model": "bn64-s1", "rank": 64, "seed": 1, "published_as": "64", "differs": ["data"]},
    {"model": "bn288-s1", "rank": 288, "seed": 1, "published_as": "512", "differs": ["data", "scale", "rank"]},
    {"model": "my_own", "rank": None, "seed": None, "published_as": None, "differs": ["data", "scale"]},
]


def write_tables(folder):
    paths = []
    for i, model in enumerate(MODELS):
        names = ["logits", "probabilities", "post", "pre", "head"]
        names += [] if model["model"] == "my_own" else ["reachable_head"]
        rows = [
            {"representation": name, "measure": measured, "value": i + j + 0.123, "n": 1024, "d": 256}
            for j, name in enumerate(names)
            for measured in ("effective_rank", "above_threshold", "numerical_rank")
        ]
        path = folder / f"{model['model']}.parquet"
        write_table(
            path,
            pa.Table.from_pylist(
                rows,
            ),
            {},
        )
        paths.append(path)
    settings = {"models": MODELS, "positions": 1024}
    shown.main(job({"ranks": paths, "published": PUBLISHED}, outputs(folder), settings))
    return read_record(folder / "t.csv"), (folder / "t.md").read_text()


def test_the_csv_sets_the_thesis_beside_ours_and_the_page_says_what_to_compare(tmp_path):
    table, page = write_tables(tmp_path)
    assert len(table) == 3 * (6 + 6 + 6 + 5)
    cells = table.set_index(["measure", "model", "representation"])
    post = cells.loc[("effective_rank", "bn4-s1", "post")]
    assert (post.value, post.published, post.published_differs) == (2.123, 2.93, "data")
    assert cells.loc[("effective_rank", "bn288-s1", "post"), "published"] == 205.8
    assert cells.published.notna().sum() == 8
    assert cells.loc["effective_rank"].loc["bn64-s1"].published.isna().all()
    assert cells.loc["numerical_rank"].published.isna().all()
    sections = page.split("## ")[1:]
    assert sections[0].startswith("Effective rank:")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in sections[0].splitlines() if "|" in line]
    assert [row[0] for row in rows[2:]] == ["4", "64", "288", "my_own"]
    first = dict(zip(rows[0], rows[2], strict=True))
    assert (first["logits"], first["published logits"], first["reachable W"]) == ("0.12", "3.30", "5.12")
    assert dict(zip(rows[0], rows[5], strict=True))["reachable W"] == "-"
    assert dict(zip(rows[0], rows[3], strict=True))["published logits"] == "-"
    assert "Singular values above 1 % of the largest" in sections[1]
    assert "published" not in sections[1]
    legend = page.splitlines()[-1]
    assert "1,024 positions drawn at random over all windows" in legend
    assert "published 3.30 of the logits at rank 4 is more than the r - 1" in legend
    assert "another corpus and larger models: compare trends, not levels" in legend
    assert "Rank 288 stands beside the thesis's 512." in legend
