"""`rule all` makes every table and figure that the README lists, and a second run does nothing."""

import re

import matplotlib.image
import pandas as pd
import pytest
from study import ROOT


@pytest.fixture(scope="module")
def everything(study):
    study.snakemake("all")
    return study


def listed():
    """Name the tables and the figures of the README's lists."""
    section = (ROOT / "README.md").read_text().split("## Which table is where")[1].split("##")[0]
    return [re.findall(r"\| `(\w+)`", part) for part in section.split("The figures are")]


def test_every_listed_table_is_there_with_its_rows(everything):
    names, _ = listed()
    assert len(names) >= 14
    for name in names:
        table = pd.read_csv(everything.folder / f"results/tables/{name}.csv")
        assert len(table) >= 2, name
        for suffix in ("md", "html" if name == "samples" else "tex"):
            text = (everything.folder / f"results/tables/{name}.{suffix}").read_text()
            assert len(text) > 200, f"{name}.{suffix}"
            assert not re.search(r"\bnan\b", text), f"{name}.{suffix}"


def test_no_figure_is_blank(everything):
    figures = sorted((everything.folder / "results/figures").glob("*.png"))
    _, names = listed()
    assert len(names) >= 7
    assert {figure.stem for figure in figures} == set(names)
    for figure in figures:
        assert matplotlib.image.imread(figure).std() > 0.05, figure
        assert figure.with_suffix(".svg").stat().st_size > 5000


def test_a_second_run_of_everything_does_nothing(everything):
    assert everything.planned("all") == {}
