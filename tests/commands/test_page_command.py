"""`oversmoothing page`: the main table within 80 columns, and the page of what there is."""

import re

import pandas as pd
import pytest
from kept_runs import RUNS, STUDIES

from oversmoothing.claims.story import chapters
from oversmoothing.commands import main
from oversmoothing.run.conclusion import conclusion
from oversmoothing.scores.catalogue.metrics import METRICS as METRICS_HERE
from oversmoothing.scores.catalogue.metrics import Metric
from oversmoothing.tables import score_tables
from oversmoothing.tables.record import record

METRICS = ("tto", "nsmd", "tv", "kl", "tbat")


def main_table(metrics=METRICS):
    rows = [
        {"truth": None if metric == "tbat" else "truth", "measure": metric, "model": f"bn{rank}-s{seed}", "rank": rank}
        | {"seed": seed, "value": mean + 0.1 * (seed - 1), "low": mean - 0.01, "high": mean + 0.01}
        | {"unit": "probability", "published_model": str(rank), "published": 0.25 if rank == 4 else None}
        for metric in metrics
        for rank, mean in ((4, 0.3), (288, 0.1))
        for seed in (1, 2)
    ]
    return record(rows)


def test_it_prints_means_of_the_seeds_beside_the_thesiss_and_writes_the_page(tmp_path, capsys):
    (tmp_path / "tables").mkdir()
    main_table().assign(table="oversmoothing").to_csv(tmp_path / "tables/oversmoothing.csv", index=False)
    (tmp_path / "tables/oversmoothing.md").write_text("# Oversmoothing\n\n| rank |\n|:---|\n| 4 |\n")
    assert main(["page", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[:-1])) <= 80
    assert lines[0].startswith("Oversmoothing by rank, against truth, means of 2 seeds")
    assert re.split("  +", lines[2].strip()) == ["TTO ↓", "NSMD ↓", "TV ↓", "KL (nats) ↓", "TBAT ↓"]
    assert lines[4].split() == ["4", *["0.350", "(0.250)"] * 5]
    assert lines[5].split() == ["288", *["0.150", "(-)"] * 5]
    assert lines[-1] == f"On a page, with what it means: {tmp_path}/index.html"
    assert "TTO is 0.350 at rank 4, 0.150 at rank 288" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("more", [1, 4, 8])
def test_further_metrics_stand_below_where_there_is_room(more, monkeypatch):
    mine = {f"mine_{i}": Metric(f"Mine {i}", "probability", "lower") for i in range(more)}
    monkeypatch.setattr(score_tables, "METRICS", METRICS_HERE | mine)
    lines = score_tables.for_terminal(main_table([*METRICS, *mine])).splitlines()
    assert max(map(len, lines)) <= 80
    headers = [line for line in lines if line.startswith(" ") and "↓" in line]
    assert len(headers) == (2 if more < 6 else 3)
    names = re.findall(r"TTO|NSMD|TV|KL|TBAT|Mine \d", " ".join(headers))
    assert names == ["TTO", "NSMD", "TV", "KL", *(metric.label for metric in mine.values()), "TBAT"]
    assert sum(line.startswith("288") for line in lines) == len(headers)


def test_it_says_units_directions_and_beside_which_rank_of_the_thesis_another_stands():
    table = main_table([*METRICS, "entropy_difference"]).assign(published=0.25)
    table["published_model"] = table.published_model.where(table["rank"] != 288, "512")
    note = " ".join(score_tables.for_terminal(table).rpartition("\n\n")[2].split())
    assert note == (
        "TTO, NSMD, TV and TBAT in probability, from 0 to 1; KL in nats; Entropy difference in bits. "
        "↓ lower is better, ↑ higher is better. Rank 288 stands beside the thesis's 512."
    )
    heading = " ".join(score_tables.for_terminal(table.assign(published_truth="EvaByte")).partition("\n\n")[0].split())
    assert heading.endswith("(in brackets: the thesis, EvaByte)")


def test_of_several_truths_each_has_a_block_and_what_needs_none_stands_once():
    table = main_table()
    real = table[table.truth.notna()].assign(truth="a-language-model", value=0.5, published=None)
    blocks = score_tables.for_terminal(pd.concat([table, real])).split("\n\n")
    headings = [" ".join(block.split()) for block in blocks if block.startswith("Oversmoothing")]
    thesis = ", means of 2 seeds (in brackets: the thesis)"
    assert headings == [
        f"Oversmoothing by rank, against truth{thesis}",
        "Oversmoothing by rank, against a-language-model, means of 2 seeds",
        f"Oversmoothing by rank, without a truth{thesis}",
    ]
    assert [block.split("\n")[0].count("TBAT") for block in blocks[1::2]] == [0, 0, 1]
    assert [block.split("\n")[-1].split() for block in blocks[3:4]] == [["288", *["0.500"] * 4]]


def test_models_without_a_rank_or_of_one_rank_have_rows_of_their_own():
    table = main_table(["tto"])
    table["arm"] = table.model.str.partition("-")[0]
    hub = table[table["rank"] == 288].assign(model="gpt2", arm=None, rank=pd.NA, value=0.7)
    other = table[table["rank"] == 4].assign(model="mos4-s1", arm="mos4", value=0.9)
    lines = score_tables.for_terminal(record(pd.concat([table, hub, other]))).splitlines()
    assert [line.split()[:2] for line in lines[4:8]] == [
        ["bn4", "0.350"],
        ["mos4", "0.900"],
        ["288", "0.150"],
        ["gpt2", "0.700"],
    ]


def test_a_folder_without_results_is_one_line(tmp_path, refused):
    assert f"{tmp_path}: no tables and no figures; name a results folder, or run" in refused("page", tmp_path)


@pytest.mark.parametrize("kept", RUNS, ids=lambda path: str(path.relative_to(STUDIES)))
def test_every_kept_run_opens_with_all_its_tables_and_figures(kept, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda: "")  # the same for all, and slow
    for part in kept.iterdir():
        (tmp_path / part.name).symlink_to(part)
    assert main(["page", str(tmp_path)]) == 0
    text = (tmp_path / "index.html").read_text()
    tables = {path.stem for path in kept.glob("tables/*.csv")} - {"claims"}
    assert text.count("<details class='table'>") == len(tables)
    drawn = len(list(kept.glob("figures/*.png")))
    assert drawn <= text.count("src='data:image/png") <= drawn + 1  # the cover may stand in its chapter too
    assert "<dt>seeds of the trainings</dt>" in text
    assert capsys.readouterr().err == ""


def test_verdicts_of_an_older_version_are_one_line(tmp_path, refused):
    (tmp_path / "tables").mkdir()
    pd.DataFrame([{"id": "a", "chapter": "4", "verdict": "holds", "effect": 1.0}]).to_csv(
        tmp_path / "tables/claims.csv", index=False
    )
    said = refused("page", tmp_path)
    assert "tables/claims.csv: verdicts of an older version, without the column `place`; make it again with" in said


def test_a_library_without_its_stories_is_one_line(tmp_path, refused, monkeypatch):
    (tmp_path / "tables").mkdir()
    main_table().assign(table="oversmoothing").to_csv(tmp_path / "tables/oversmoothing.csv", index=False)
    stories = [path for path in chapters.stories_of(chapters.HERE) if path.name != "models.story.md"]
    monkeypatch.setattr(chapters, "stories_of", lambda module: stories)
    assert "models.story.md: no such file; install oversmoothing again" in refused("page", tmp_path)
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize(
    ("made", "tokens", "last"),
    [
        ({"table": True, "page": True}, False, "On a page, with what it means: {}/index.html"),
        ({"table": True, "page": False}, False, "with what it means: oversmoothing page {}"),
        ({"table": False, "page": True}, False, "On a page, with what it means: {}/index.html"),
        ({"table": True, "page": False}, True, "TBAT in probability, from 0 to 1; KL in nats. ↓ lower is better."),
    ],
)
def test_a_finished_run_ends_with_the_table_and_the_page_that_it_made(tmp_path, made, tokens, last):
    (tmp_path / "tables").mkdir()
    main_table().assign(table="oversmoothing").to_csv(tmp_path / "tables/oversmoothing.csv", index=False)
    if tokens:
        (tmp_path / "tokens").mkdir()
        (tmp_path / "tokens/vocabulary.parquet").touch()
    text = conclusion(tmp_path, **made)
    assert text.startswith("Oversmoothing by rank") == made["table"]
    assert " ".join(text.split()).endswith(last.format(tmp_path))
