"""Tables 5.3, 6.2, 6.3 and H.1: the transcription, the summaries, and what people read."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from step_jobs import job, outputs

from oversmoothing.store.parquet import write_table
from oversmoothing.tables.record import read_record
from studies.sample_quality import show
from studies.sample_quality.measure import quality_table
from studies.sample_quality.table import read_cells, sets_of_models

PUBLISHED = Path(__file__).resolve().parents[3] / "resources/published"
FAMILY = [PUBLISHED / f"table_{name}.csv" for name in ("5_3", "6_2", "6_3")]


def test_cells_are_found_by_kind():
    cells = read_cells(FAMILY, PUBLISHED / "table_h_1.csv")

    assert len(cells) == 8 * 6 + 7 * 6 * 4 + 11 * 6  # 5.3 and 6.2 share the pure column
    for key, printed in {
        ("family", "4", "pure", "perplexity"): (1965.994, 346.062),
        ("svd", "4", "pure", "perplexity"): (979.231, 148.955),
        ("human", "Human", "", "valid_words"): (0.737, 0.068),
        ("family", "512", "greedy", "word_length"): (9.138, 49.343),
    }.items():
        assert (cells[key]["mean"], cells[key]["sd"]) == printed
    assert cells["family", "32", "top-p", "mauve"]["mean"] == 0.995


def rows(level, n=100, mauve=0.5):
    """Make the rows of one set of samples: every sample has `level` times what its metric is for human text."""
    human = {"perplexity": 40.0, "bigram": 0.05, "loop": 0.0, "valid_words": 0.7, "word_length": 5.0}
    of_set = [
        {"metric": metric, "window": w, "resample": None, "value": level * value * (1 + w / 1000), "note": None}
        for metric, value in human.items()
        for w in range(n)
    ]
    for metric, value in (("mauve", mauve), ("byte_tv", 0.02 * level)):
        of_set += [
            {"metric": metric, "window": None, "resample": i, "value": value + (i or 0) / 100, "note": None}
            for i in (None, 1, 2, 3)
        ]
    return of_set


def model(name, rank, published_as, differs):
    return {"model": name, "rank": rank, "seed": 1, "published_as": published_as, "differs": differs}


SETTINGS = {
    "resamples": 100,
    "seed": 1,
    "completed": ["perplexity", "mauve", "valid_words"],
    "unit": "byte",
    "windows": {"count": 100, "prompt": 56, "scored": 200, "seed": 1},
    "family": [
        model("bn4-s1", 4, "4", ["data", "scale", "tau"]),
        model("bn288-s1", 288, "512", ["data", "scale", "rank", "tau"]),
    ],
    "truths": [model("truth", None, "NanoGPT 300M", ["data", "truth"])],
    "svd": [model("svd4-s1", 4, "4", ["data"]), model("svd256-s1", 256, "256", ["data"])],
}


def run_script(folder, settings, change=None):
    """Write table and figure of a run; return the table and its page in Markdown."""
    levels = {"bn4-s1": 3.0, "bn288-s1": 1.5, "truth": 1.1}
    tables = {name: {"pure": rows(level), "greedy": rows(level / 2)} for name, level in levels.items()}
    tables |= {"svd4-s1": {"pure": rows(4.0)}, "svd256-s1": {"pure": rows(2.0)}}
    if change:
        change(tables)
    for name, sets in tables.items():
        write_table(folder / f"{name}.parquet", quality_table(sets), {})
    human = {"first": rows(1.0, mauve=1.0), "second": rows(1.01, mauve=0.9)}
    write_table(folder / "human_quality.parquet", quality_table(human), {"gpt2_large": "False"})
    texts = pa.table({"window": pa.array([0], pa.int32()), "scored": [b"aab"], "continuation": [b"abb"]})
    write_table(folder / "windows.parquet", texts, {})
    inputs = {
        "quality": [folder / f"{name}.parquet" for name in tables],
        "human": folder / "human_quality.parquet",
        "published": FAMILY,
        "published_svd": PUBLISHED / "table_h_1.csv",
        "windows": folder / "windows.parquet",
        "second": folder / "windows.parquet",
        "samples": [folder / "windows.parquet" for _ in settings["family"]],
    }
    show.main(job(inputs, outputs(folder), settings))
    assert all((folder / f"t.{kind}").stat().st_size > 10_000 for kind in ("png", "svg"))
    table = read_record(folder / "t.csv").set_index(["model", "decoding", "measure"], drop=False).sort_index()
    return table, (folder / "t.md").read_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return run_script(tmp_path_factory.mktemp("made"), SETTINGS)


def test_csv_is_tidy_with_human_and_thesis_beside(made):
    table, _ = made
    assert len(table) == (7 + 2) * (3 * 2 + 2 + 2) + 3
    assert table.value["bn4-s1", "pure", "rare_bytes"] == 1  # of "abb"; of "aab" itself b is no tenth rarest
    row = table.loc[("bn4-s1", "pure", "perplexity")]
    assert row.value == pytest.approx(3 * 40 * (1 + 49.5 / 1000), rel=1e-5)
    assert row.low < row.value < row.high
    assert (row.published, row.published_sd) == (1965.99, 346.062)
    assert row.published_differs == "data scale length language_model"
    assert (row.n, row.better, row.unit) == (100, "human", "perplexity per token")
    row = table.loc[("bn288-s1", "greedy", "byte_tv")]
    assert (row.value, row.sd) == pytest.approx((0.015, 0.01))
    assert table.value["bn288-s1", "greedy", "byte_tv_resampled"] == pytest.approx(0.035)
    assert (row.published, row.better) == (0.044, "lower")
    assert row.published_differs == "data scale rank length"
    assert pd.isna(row.low)
    svd = table.loc[("svd4-s1", "pure", "mauve")]
    assert (svd.published, svd.better) == (0.005, "higher")
    assert svd.published_differs == "data scale length language_model"
    assert pd.isna(table.loc[("svd256-s1", "pure", "mauve")].published)
    assert pd.isna(table.loc[("truth", "pure", "mauve")].published)
    humans = table[table.kind == "human"]
    assert humans.decoding.isna().all()
    humans = humans[humans.model == "human"].set_index("measure")
    assert humans.published["valid_words"] == 0.737
    assert humans.published["perplexity"] == 40.673
    assert humans.value["perplexity"] == pytest.approx(40 * (1 + 49.5 / 1000), rel=1e-5)


def test_markdown_marks_what_is_closest_to_human(made):
    _, text = made
    parts = [part.splitlines() for part in text.split("\n## ")[1:]]
    pure, decodings, svd = (
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")] for lines in parts
    )
    head, *body = pure
    assert [row[0] for row in body] == ["4", "288", "truth", "human", "human, second set"]
    perplexity = head.index("Perplexity")
    assert [row[perplexity].startswith("**") for row in body] == [False, True, False, False, False]
    tv = head.index("Byte TV / 2 ↓")
    assert body[0][tv] == "0.0300 ± 0.0050"  # 0.06, halved as the thesis's is
    assert body[0][tv + 1] == "0.103"
    assert "published Loops" not in head
    head, *body = decodings
    assert head == ["rank", "metric", "pure", "published pure", "greedy", "published greedy", "human"]
    row = next(row for row in body if row[:2] == ["288", "Valid words"])  # 1.5 against 0.75 times human
    assert [cell.startswith("**") for cell in row] == [False, False, False, False, True, False, False]
    assert row[3] == "0.746 ± 0.065"
    assert [row[1] for row in body[:7]] == [
        *("Perplexity", "Repetition", "Loops", "MAUVE ↑", "Byte TV / 2 ↓", "Valid words", "Word length")
    ]
    head, *body = svd
    assert [row[0] for row in body] == ["4", "256", "human"]
    assert body[1][1].startswith("**")
    assert "another corpus, larger models, samples of another length or number and another language" in text
    assert "Rank 288 stands beside the thesis's 512." in text
    assert "nan" not in text

    assert "before the continuation for Perplexity, MAUVE and Valid words; Repetition, Loops, Byte TV and Word" in text
    assert "another part of the samples" not in text


def test_what_has_no_value_says_why_and_the_legend_which_text_each_metric_reads(tmp_path):
    def change(tables):
        for sets in tables.values():
            for of_set in sets.values():
                of_set[:] = [row for row in of_set if row["metric"] != "mauve"]
                of_set.append({"metric": "mauve", "window": None, "resample": None, "value": None, "note": "8 samples"})
        tables["bn4-s1"]["pure"][0] |= {"value": None, "note": "a sample of fewer than two tokens"}

    table, text = run_script(tmp_path, SETTINGS | {"completed": ["bigram"]}, change)
    row = table.loc[("bn4-s1", "pure", "mauve")]
    assert pd.isna(row.value)
    assert row.note == "8 samples"
    row = table.loc[("bn4-s1", "pure", "perplexity")]
    assert (row.n, row.note) == (99, "1 left out: a sample of fewer than two tokens")
    assert "MAUVE (8 sets): 8 samples." in text
    assert "Perplexity (bn4-s1 pure): 1 left out" in text
    assert "nan" not in text.replace("NanoGPT", "")
    assert "before the continuation for Repetition; Perplexity, Loops, MAUVE, Byte TV, Valid words and" in text
    assert "another part of the samples" in text
    differs = table.loc[("bn4-s1", "pure")].published_differs.dropna()
    assert {name for name in differs.index if "text" in differs[name].split()} == {
        *("perplexity", "bigram", "mauve", "valid_words")
    }


def test_the_sets_of_samples_end_with_those_of_people():
    sets = sets_of_models(SETTINGS["family"], SETTINGS["truths"], SETTINGS["svd"])
    assert [(row["kind"], row["model"]) for row in sets][-2:] == [("human", "human"), ("human", "human, second set")]
    assert sets[3]["published_as"] == "4"
    assert "rank" not in sets[3]["differs"]


@pytest.mark.parametrize(("mauve", "low", "words"), [(0.5, 0.372, "model sees"), (0.89, -0.018, "is blind")])
def test_a_judge_that_cannot_tell_the_worst_samples_from_people_is_blind(tmp_path, mauve, low, words):
    """0.9 for people and either value for rank 4, each with a standard deviation of 0.01 over the draws."""
    _, text = run_script(tmp_path, SETTINGS, lambda tables: tables["bn4-s1"].update(pure=rows(3.0, mauve=mauve)))
    limit = f"{0.9 - mauve:.3f} nearer to human than samples of rank 4 are, with a lower limit of {low:.3f}"
    assert limit in text
    assert words in text
