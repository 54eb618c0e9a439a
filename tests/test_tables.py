"""Tables: ours beside the published, in three formats; and the published numbers themselves."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import score_table
from oversmoothing.jobs import UserError
from oversmoothing.layout import write_csv, write_page
from oversmoothing.tables import beside_published, missing_summaries, read_published, write_latex, write_pages

PUBLISHED = Path(__file__).resolve().parent.parent / "resources/published"
TABLES = [PUBLISHED / "table_4_1.csv", PUBLISHED / "table_4_2.csv"]
TRUTHS = [{"model": "truth", "rank": None, "seed": 1, "published_as": "NanoGPT 300M", "differs": ["data", "truth"]}]


def model(rank, published_as, differs):
    return {"model": f"bn{rank}-s1", "rank": rank, "seed": 1, "published_as": published_as, "differs": differs}


MODELS = [model(4, "4", ["data", "scale"]), model(64, "64", ["data"]), model(288, "512", ["data", "scale", "rank"])]


@pytest.fixture
def table():
    rows = [
        {
            "model": m["model"],
            "truth": "truth",
            "metric": metric,
            "decoding": "pure",
            "mean": i + j / 10,
            "sd": 0.5,
            "n": 20000,
        }
        | {"low": i - 0.1, "high": i + 0.1}
        for j, metric in enumerate(("tto", "kl"))
        for i, m in reversed(list(enumerate(MODELS, start=1)))
    ]
    return beside_published(pd.DataFrame(rows), MODELS, TRUTHS, read_published(TABLES))


def test_rows_stand_in_the_configs_order_with_the_thesis_beside_them(table):
    assert list(table.metric) == ["tto"] * 3 + ["kl"] * 3
    assert list(table["rank"]) == [4, 64, 288] * 2
    first, second, third = table.to_dict("records")[:3]
    assert (first["published_mean"], first["published_sd"]) == (0.386, 0.273)
    assert first["published_differs"] == "data scale truth"
    assert pd.isna(second["published_mean"])  # the thesis has no rank 64
    assert pd.isna(second["published_differs"])
    assert (third["published_model"], third["published_mean"]) == ("512", 0.076)
    assert third["published_differs"] == "data scale rank truth"
    assert (first["unit"], first["better"]) == ("probability", "lower")


def test_csv_is_tidy(table, tmp_path):
    write_csv(table, tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv")
    assert len(back) == 6
    assert back["mean"].tolist() == pytest.approx(table["mean"].tolist())
    assert back.columns.tolist() == table.columns.tolist()


def test_markdown_says_which_way_is_better_and_marks_the_best(table, tmp_path):
    write_pages(table, [tmp_path / "t.md"], "Title")
    text = (tmp_path / "t.md").read_text()
    assert "TTO ↓" in text
    assert "**1.000** ± 0.500 [0.900, 1.100] | 0.386 ± 0.273" in text
    assert text.count("**") == 4
    assert "Rank 288 stands beside the thesis's 512." in text
    assert "another corpus and larger models and another truth" in text
    assert "20,000 positions" in text
    row = next(line for line in text.splitlines() if line.startswith("| 64"))
    assert [cell.strip() for cell in row.split("|")][3] == "-"


def test_with_decodings_across_each_metric_has_a_row(tmp_path):
    rows = [
        {"model": m["model"], "truth": "truth", "metric": metric, "decoding": decoding, "mean": i + j, "sd": 0.1}
        | {"n": 9, "low": 0.0, "high": 1.0}
        for i, m in enumerate(MODELS, start=1)
        for j, metric in enumerate(("tto", "entropy_difference"))
        for decoding in ("pure", "greedy")
    ]
    published = pd.DataFrame(
        [{"model": "4", "truth": "NanoGPT 300M", "metric": "tto", "decoding": "greedy", "mean": 0.25, "sd": np.nan}]
    )
    table = beside_published(pd.DataFrame(rows), MODELS, TRUTHS, published)
    write_pages(table, [tmp_path / "t.md"], "Title", "decoding")
    write_latex(table, tmp_path / "t.tex", "Title.", "decoding")
    text = (tmp_path / "t.md").read_text()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert cells[0] == ["rank", "metric", "pure", "published pure", "greedy", "published greedy"]
    assert [row[:2] for row in cells[1:5:3]] == [["4", "TTO ↓"], ["4", "Entropy difference (bits) ↑"]]
    assert cells[1][2:] == ["**1.000** ± 0.100 [0.000, 1.000]", "-", "**1.000** ± 0.100 [0.000, 1.000]", "0.250"]
    assert cells[6][2].startswith("**4.000**")  # of an entropy difference the highest is best
    assert "↓ lower is better, ↑ higher is better" in text
    assert (tmp_path / "t.tex").read_text().count("$\\downarrow$") == 4


def test_a_checkpoint_of_the_users_own_goes_by_its_name(tmp_path):
    own = {"model": "my_model", "rank": None, "seed": None, "published_as": "4", "differs": ["data", "scale"]}
    models = [*MODELS, {**model(4, "4", ["data"]), "model": "bn4-s2", "seed": 2}, own]
    row = {
        "truth": "truth",
        "metric": "tto",
        "decoding": "pure",
        "mean": 0.1,
        "sd": 0.1,
        "n": 9,
        "low": 0.0,
        "high": 1.0,
    }
    rows = pd.DataFrame([{**row, "model": m["model"]} for m in models])
    table = beside_published(rows, models, TRUTHS, read_published(TABLES))
    write_pages(table, [tmp_path / "t.md"], "Title")
    write_latex(table, tmp_path / "t.tex", "Title.")
    line = next(line for line in (tmp_path / "t.md").read_text().splitlines() if "my_model" in line)
    assert [cell.strip() for cell in line.split("|")][1:3] == ["my_model", "-"]
    assert "None" not in (tmp_path / "t.md").read_text()
    assert r"my\_model" in (tmp_path / "t.tex").read_text()


def test_latex_is_balanced_and_escaped(table, tmp_path):
    write_latex(table, tmp_path / "t.tex", "Title.")
    text = (tmp_path / "t.tex").read_text()
    for name in ("table", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 1
    assert text.count("{") == text.count("}")
    assert r"$\mathbf{1.000} \pm 0.500$" in text
    assert "↓" not in text
    assert "interval" not in text


def test_published_tables_have_every_cell_of_the_thesis():
    published = read_published(TABLES)
    counts = published.groupby(["metric", published.truth.fillna("")]).size()
    assert counts.to_dict() == {
        (metric, truth): 7 for metric in ("tto", "nsmd", "tv", "kl") for truth in ("EvaByte", "NanoGPT 300M")
    } | {("tbat", ""): 7}
    assert set(published.model) == {"4", "8", "12", "16", "32", "128", "512"}
    assert published["mean"].notna().all()
    assert (published.sd >= 0).all()


def test_published_values_keep_the_metrics_inequalities():
    """NSMD <= TTO <= TV in every cell, and the spread of a probability cannot exceed sqrt(m (1 - m))."""
    wide = read_published(TABLES).pivot_table("mean", ["model", "truth"], "metric")
    assert (wide.nsmd <= wide.tto).all()
    assert (wide.tto <= wide.tv).all()
    bounded = read_published(TABLES).query("metric in ('tto', 'tv')")
    assert (bounded.sd <= np.sqrt(bounded["mean"] * (1 - bounded["mean"])) + 5e-4).all()


def test_published_means_agree_with_table_6_1():
    """Pure sampling in Table 6.1 is the plain mean of the two truths, to the rounding."""
    pure = {
        "tto": [0.409, 0.151, 0.125, 0.100, 0.089, 0.088, 0.106],
        "nsmd": [0.400, 0.142, 0.117, 0.093, 0.082, 0.081, 0.099],
        "tv": [0.457, 0.216, 0.195, 0.170, 0.158, 0.159, 0.179],
        "kl": [1.082, 0.404, 0.326, 0.258, 0.222, 0.226, 0.265],
    }
    means = read_published(TABLES).groupby(["metric", "model"])["mean"].mean()
    for metric, values in pure.items():
        ours = [means[metric, rank] for rank in ("4", "8", "12", "16", "32", "128", "512")]
        np.testing.assert_allclose(ours, values, atol=0.0011)


def test_a_page_is_the_same_in_markdown_and_html(tmp_path):
    cells = pd.DataFrame({"rank": ["4", "a < b"], "TTO": ["**0.1** ± 0.2", "0.3"]})
    write_page([tmp_path / "t.md", tmp_path / "t.html"], "T & U", [("Against `truth`", cells)], "How to read it.")
    assert "| 4      | **0.1** ± 0.2 |" in (tmp_path / "t.md").read_text()
    html = (tmp_path / "t.html").read_text()
    assert "<h2>Against <code>truth</code></h2>" in html
    assert "><strong>0.1</strong> ± 0.2</td>" in html
    assert ">a &lt; b</td>" in html
    assert "<title>T &amp; U</title>" in html
    assert "How to read it." in html


def test_a_model_that_is_not_finished_leaves_a_gap(tmp_path):
    finished = [
        {"metric": metric, "model": "bn4-s1", "truth": truth, "decoding": "pure", "mean": 0.5, "sd": 0.1, "n": 9}
        | {"low": 0.4, "high": 0.6}
        for metric, truth in (("tto", "truth"), ("tbat", None))
    ]
    missing = missing_summaries(finished, [("tto", "bn288-s1"), ("tbat", "bn288-s1"), ("kl", "bn4-s1")])
    assert [(row["metric"], row["model"], row["truth"]) for row in missing] == [
        ("tto", "bn288-s1", "truth"),
        ("tbat", "bn288-s1", None),
    ]
    table = beside_published(pd.DataFrame(finished + missing), MODELS, TRUTHS, read_published(TABLES))
    write_pages(table, [tmp_path / "t.md"], "Title")
    rows = [line.split("|")[1:-1] for line in (tmp_path / "t.md").read_text().splitlines() if line.startswith("| ")]
    gap = next(row for row in rows if row[0].strip() == "288")
    assert [cell.strip() for cell in gap[1:]] == ["—", "0.076 ± 0.138"]
    assert table.n.dropna().tolist() == [9, 9]


def test_without_being_told_so_a_table_takes_no_gap(tmp_path):
    settings = {"decodings": ["pure"], "resamples": 10, "seed": 1, "models": MODELS, "truths": TRUTHS}
    job = SimpleNamespace(
        input=SimpleNamespace(scores=[tmp_path / "tto/bn4-s1.parquet"], published=TABLES),
        params=SimpleNamespace(settings=settings),
    )
    with pytest.raises(UserError, match="no such file"):
        score_table.main(job)
