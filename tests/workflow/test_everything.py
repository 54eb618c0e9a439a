"""`rule all` makes every table and figure that docs/results.md lists, and a second run does nothing."""

import json
import re
import runpy
import shutil
import subprocess

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from recipes import CONFIG
from study import ROOT, listed, pages
from test_notebook import cells

import measure
import window_means
from oversmoothing.measures.entries.side_by_side import KINDS
from oversmoothing.tables.compare import compare
from schemas.surface import parquet_columns

IN_WORDS = {"string": "text", "float": "float32", "double": "float64"}


OF_ARMS = {
    "learning_rates",
    *listed("", "(?:with several (?:seeds|rates|truths|steps|sizes)|members from the hub beside)"),
}  # of several seeds and rates: see test_arms
SIDE = {name: np.zeros(1, kind) for name, kind in KINDS.items()}
SCHEMAS = {  # of files that a study of one seed without models of the hub lacks
    "side_by_side/{model}.parquet": measure.keyed(0, {"truth": "a"}, SIDE).schema,
    "tables/window_means.parquet": window_means.SCHEMA,
}
for more in ROOT.glob("tests/studies/*/schemas.py"):
    SCHEMAS |= runpy.run_path(str(more))["SCHEMAS"]
WITHOUT_LATEX = ("frontier", "samples")
OF_TOKENS = set(listed("Tables", "of tokens alone"))  # see test_tokens_dag


def test_every_listed_table_is_there_with_its_rows(everything):
    names = listed("Tables")
    assert len(names) >= 14
    for name in set(names) - OF_ARMS - OF_TOKENS:
        table = pd.read_csv(everything.folder / f"results/tables/{name}.csv")
        assert len(table) >= (1 if name == "rank_order" else 2), name  # of two ranks there is one pair
        for suffix in ("md", "html", *(() if name in WITHOUT_LATEX else ("tex",))):
            text = (everything.folder / f"results/tables/{name}.{suffix}").read_text()
            assert len(text) > 200, f"{name}.{suffix}"
            assert not re.search(r"\bnan\b", text), f"{name}.{suffix}"


def test_any_table_can_be_compared_with_itself(everything):
    compared = compare(everything.folder / "results", everything.folder / "results")
    assert "oversmoothing" in compared
    for name, table in compared.items():
        assert table.only_in.isna().all(), name
        assert (table.difference.dropna() == 0).all(), name


def test_no_figure_is_blank(everything):
    figures = sorted((everything.folder / "results/figures").glob("*.png"))
    names = listed("Figures")
    assert len(names) >= 10
    assert {name for name in names if not name.endswith("_typical")} - OF_ARMS <= {figure.stem for figure in figures}
    for figure in figures:
        assert matplotlib.image.imread(figure).std() > 0.05, figure
        assert figure.with_suffix(".svg").stat().st_size > 5000


def test_the_page_says_what_each_figure_shows_and_what_made_it(everything):
    page = (everything.folder / "results/index.html").read_text()
    figures = sorted((everything.folder / "results/figures").glob("*.svg"))
    said = {path.stem: re.search(r"<title>(.*?)</title>", path.read_text(), re.DOTALL) for path in figures}
    assert [name for name, title in said.items() if title is None or len(title[1]) < 20] == []
    alternatives = re.findall(r"<img alt='(.*?)' src=", page)
    assert len(alternatives) >= len(figures)
    assert {name.replace("_", " ") for name in said}.isdisjoint(alternatives)
    footer = page[page.index("<footer>") :]
    for fact in (*CONFIG, "seeds of the trainings", "date of the run", "commit of the code", "torch"):
        assert fact in footer


def test_every_parquet_column_is_listed_with_its_type(everything):
    """`{model}` and the like stand for any name; files may also lie in the folder of a study's text."""
    text = "\n".join(pages())
    every = {name: columns for name, columns in parquet_columns(text).items() if not name.startswith("tokens/")}
    assert len(every) > 20
    for pattern, columns in every.items():
        names = re.sub(r"\{\w+\}", "*", pattern)
        found = (list(everything.folder.glob(f"results/{places}{names}")) for places in ("", "**/"))
        files = next(filter(None, found), [])
        assert files or pattern in SCHEMAS, pattern
        if not files:
            kinds = {field.name: str(getattr(field.type, "value_type", field.type)) for field in SCHEMAS[pattern]}
            assert {name: IN_WORDS.get(kind, kind) for name, kind in kinds.items()} == columns, pattern
        for file in files:
            if "{metric}" in pattern and f"`scores/{file.parent.name}/" in text:  # has a row of its own
                continue
            kinds = {field.name: str(getattr(field.type, "value_type", field.type)) for field in pq.read_schema(file)}
            kinds.pop("brier", None)  # the metric of the recipe
            assert {name: IN_WORDS.get(kind, kind) for name, kind in kinds.items()}.items() <= columns.items(), file


def test_a_second_run_of_everything_does_nothing(everything):
    assert everything.planned("all", config=CONFIG) == {}


def test_the_report_holds_every_table_and_figure_with_a_caption(everything):
    text = (everything.folder / "report.html").read_text()
    start = text.index("var results = {") + len("var results = ")
    results, _ = json.JSONDecoder().raw_decode(text, start)
    tables, figures = everything.folder.glob("results/tables/*.html"), everything.folder.glob("results/figures/*.svg")
    assert set(results) == {str(path.relative_to(everything.folder)) for path in (*tables, *figures)}
    assert all(len(result["caption"]) > 100 for result in results.values())


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex here (Debian: texlive-latex-extra)")
def test_every_table_compiles_and_fits_on_the_line(everything, tmp_path):
    tables = sorted((everything.folder / "results/tables").glob("*.tex"))
    assert len(tables) > 15
    packages = dict.fromkeys(line for path in tables for line in re.findall("(?m)^% needs (.*)$", path.read_text()))
    body = "\n\\clearpage\n".join(path.read_text() for path in tables)
    head = ["\\documentclass{article}", "\\usepackage[T1]{fontenc}", *packages, "\\begin{document}"]
    (tmp_path / "all.tex").write_text("\n".join([*head, body, "\\end{document}"]))
    for _ in range(2):  # the second time with the numbers of the labels
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert done.returncode == 0, done.stdout[-3000:]
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert re.findall(r"Overfull \\hbox.*", log) == []
    assert "multiply defined" not in log
    assert "Float too large" not in log


@pytest.mark.slow
def test_the_cells_of_the_notebook_run_in_order_and_each_question_has_a_plot(everything, monkeypatch):
    monkeypatch.chdir(everything.folder)
    plt.switch_backend("agg")
    plt.close("all")
    names = {}
    for cell in cells():
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    questions = [cell for cell in cells() if "".join(cell["source"]).startswith("## ")]
    assert len(questions) == 3
    drawn = [len(plt.figure(number).axes[0].lines) for number in plt.get_fignums()]
    assert drawn == 3 * [len(names["family"])] == [2, 2, 2]
