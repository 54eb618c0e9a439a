"""`oversmoothing page`: the main table within 80 columns, and the page of what there is."""

import re

import pytest

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
