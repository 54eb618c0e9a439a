"""What the recipes of CONTRIBUTING.md add stands wherever it should."""

import json
import re
import shutil

import pandas as pd
import pytest
from recipes import PLACES, SECTIONS
from study import ROOT

from oversmoothing.tables.record import read_record

NO_RECORDS = ("claims", "samples")
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4}


def test_tests_of_metrics_schema_and_decodings_pass_with_them_after_make_keys(everything):
    folder = everything.folder
    files = [f"tests/{name}.py" for name in ("scores/test_metrics", "plan/test_schema", "scores/test_decoding")]
    of_studies = {path: path.read_text() for path in ROOT.glob("tests/studies/*/test_*.py")}
    with_metrics = [path for path, text in of_studies.items() if "AGAINST_TRUTHS" in text and "kept_runs" not in text]
    files += [str(path.relative_to(ROOT)) for path in with_metrics]
    helpers = [str(path.relative_to(ROOT)) for path in ROOT.glob("tests/*.py") if not path.stem.startswith("test_")]
    helpers += [f"tests/workflow/{name}.py" for name in ("recipes", "forked", "study")]
    for file in ("pyproject.toml", "CONTRIBUTING.md", "docs/results.md", "docs/api.md", *helpers, *files):
        (folder / file).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / file, folder / file)
    everything.python("-m", "schemas.describe")
    everything.python("-m", "pytest", "-p", "no:cacheprovider", *files)


def table(everything, name):
    path = everything.folder / f"results/tables/{name}.csv"
    return (pd.read_csv if name in NO_RECORDS else read_record)(path)


def page(everything, name):
    return (everything.folder / f"results/tables/{name}.md").read_text()


def test_every_recipe_touches_as_many_places_as_its_heading_says(everything):
    headings = dict(re.fullmatch(r"(.+): (\w+) places?", heading).groups() for heading in SECTIONS)
    said = {recipe: NUMBERS[count] for recipe, count in headings.items()}
    assert said == {
        "A metric": 1,
        "A decoding method": 1,
        "A table of existing scores": 2,
        "A figure": 3,
        "A corpus": 2,
        "An arm": 2,
        "An output layer": 2,
        "An objective": 1,
        "A claim": 2,
        "A study": 4,
    }
    places = json.loads((everything.folder / PLACES).read_text())
    assert {recipe.removesuffix(" of existing scores"): count for recipe, count in said.items()} == places


@pytest.mark.parametrize("name", ["oversmoothing", "decodings", "decodings_pooled", "svd"])
def test_a_metric_stands_in_every_table_of_scores(everything, name):
    found = table(everything, name)
    brier = found[found.measure == "brier"]
    assert len(brier) == (found.measure == "kl").sum() > 0
    assert (brier.value >= 0).all()
    assert (brier.unit == "probability").all()
    assert "Brier" in page(everything, name)


def test_the_recipe_of_a_metric_names_every_table_and_figure_that_has_it(everything):
    words = re.findall(r"`(\w+?)(_\.\.\.)?`", SECTIONS["A metric: one place"])
    named, beginnings = {name for name, _ in words}, tuple(f"{name}_" for name, more in words if more)
    tables = {path.stem for path in everything.folder.glob("results/tables/*.csv") if "brier" in path.read_text()}
    tables.remove("greedy")  # which the recipe of a table adds
    figures = {path.stem for path in everything.folder.glob("results/figures/*.svg") if "Brier" in path.read_text()}
    assert "oversmoothing" in tables & figures
    assert {name for name in tables | figures if not name.startswith(beginnings)} <= named


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
    claims = table(everything, "claims").set_index("id")
    assert claims.loc["greedy-leaks-less", ["verdict", "published_verdict"]].notna().all()
    assert "Every model leaks less under greedy decoding than under pure sampling." in page(everything, "claims")
