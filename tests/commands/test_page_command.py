"""`oversmoothing page`: the main table within 80 columns, and the page of what there is."""

import re

import pandas as pd
import pytest
from kept_runs import RUNS, STUDIES

from oversmoothing.claims.story import chapters
from oversmoothing.commands import main
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
    assert lines[2].split() == ["TTO", "NSMD", "TV", "KL", "TBAT"]
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
    headers = [line for line in lines if re.search("TTO|Mine|TBAT", line)]
    assert len(headers) == (2 if more < 6 else 3)
    names = re.findall(r"TTO|NSMD|TV|KL|TBAT|Mine \d", " ".join(headers))
    assert names == ["TTO", "NSMD", "TV", "KL", *(metric.label for metric in mine.values()), "TBAT"]
    assert sum(line.startswith("288") for line in lines) == len(headers)


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
