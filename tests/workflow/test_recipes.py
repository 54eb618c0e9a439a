"""What the recipes of CONTRIBUTING.md add stands wherever it should."""

import json
import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from recipes import RECIPES, ROOT, SECTIONS, own_tests, text_of
from study import copy_project

from oversmoothing.tables.record import read_record

NO_RECORDS = ("claims", "samples")


def table(everything, name):
    path = everything.folder / f"results/tables/{name}.csv"
    return (pd.read_csv if name in NO_RECORDS else read_record)(path)


def page(everything, name):
    return (everything.folder / f"results/tables/{name}.md").read_text()


@pytest.mark.parametrize("name", ["oversmoothing", "decodings", "decodings_pooled", "svd"])
def test_a_metric_stands_in_every_table_of_scores(everything, name):
    found = table(everything, name)
    brier = found[found.measure == "brier"]
    assert len(brier) == (found.measure == "kl").sum() > 0
    assert (brier.value >= 0).all()
    assert (brier.unit == "probability").all()
    assert "Brier" in page(everything, name)


def test_a_metric_is_charted_on_the_page_and_the_terminals_table_keeps_to_80_columns(everything):
    assert '"Brier"' in (everything.folder / "results/index.html").read_text()
    code = "from oversmoothing.tables import record, score_tables as tables; "
    code += "print(tables.for_terminal(record.read_record(sys.argv[1])))"
    printed = everything.python("-c", f"import sys; {code}", "results/tables/oversmoothing.csv").stdout
    assert "Brier" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_a_decoding_method_is_scored_sampled_and_accepted_at_the_command_line(everything):
    for name in ("decodings", "tbat", "samples"):
        assert "top-a" in set(table(everything, name).decoding), name
    assert (everything.folder / "results/samples/bn4-s1337/top-a.parquet").exists()
    command = "import sys; from oversmoothing.commands import main; sys.exit(main())"
    done = everything.python("-c", command, "prompt", "wate", "--decoding", "top-a=0.3", "--bytes", "4", path="scripts")
    assert "bn4-s1337" in done.stdout


def test_a_table_and_a_figure_are_made_and_stand_in_the_report(everything):
    assert len(table(everything, "greedy")) > 0
    assert set(table(everything, "greedy").decoding) == {"greedy"}
    for suffix in ("md", "html", "tex"):
        assert (everything.folder / f"results/tables/greedy.{suffix}").stat().st_size > 200
    assert (everything.folder / "results/figures/tto.png").stat().st_size > 5000
    report = (everything.folder / "report.html").read_text()
    for label in ("results/tables/greedy.html", "results/figures/tto.svg", "Greedy decoding", "TTO by rank"):
        assert label in report, label


def test_a_corpus_is_what_the_models_read(everything):
    manifest = json.loads((everything.folder / "results/corpus/manifest.json").read_text())
    assert manifest["source"] == {"source": "poems", "files": 3}


def test_a_study_has_its_table_in_the_report_and_on_the_page(everything):
    largest, scores = table(everything, "largest_leak"), everything.folder / "results/scores/tto"
    assert set(largest.model) == {path.stem for path in scores.glob("bn*.parquet")}
    for row in largest.itertuples():
        assert row.value == pytest.approx(pd.read_parquet(scores / f"{row.model}.parquet").value.max(), abs=1e-5)
    assert "results/tables/largest_leak.html" in (everything.folder / "report.html").read_text()
    index = (everything.folder / "results/index.html").read_text()
    assert "The largest TTO of each model." in index
    assert re.search(r"The largest TTO is \d\.\d\d", index)


def test_a_claim_has_a_verdict_here_and_on_the_published_tables(everything):
    claims = table(everything, "claims").query("truth.isna()").set_index("id")
    assert claims.loc["greedy-leaks-less", ["verdict", "published_verdict"]].notna().all()
    assert "Every model leaks less under greedy decoding than under pure sampling." in page(everything, "claims")


def test_each_recipe_names_its_tests_and_their_minutes():
    assert [heading.partition(":")[0] for heading in SECTIONS] == [
        *("A metric", "A measure of a model over a text", "A decoding method", "A table of existing scores"),
        *("A figure", "A corpus", "An arm", "An output layer", "An objective", "A study", "A claim"),
    ]
    for recipe in RECIPES:
        paths, minutes = own_tests(recipe)
        assert all((ROOT / path).exists() for path in paths), recipe
        assert 0 < minutes <= 10


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_suites_own_tests_pass_with_the_addition_in_place(recipe, tmp_path):
    study = copy_project(tmp_path)
    for name in ("tests", "docs", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "LICENSE"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    RECIPES[recipe](study)
    paths, _ = own_tests(recipe)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if "`make docs`" in text_of(recipe):
        docs = [sys.executable, "-m", "schemas.describe"]
        subprocess.run(docs, cwd=tmp_path, env={**environment, "PYTHONPATH": "workflow:scripts"}, check=True)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-x", *paths]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
