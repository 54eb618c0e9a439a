"""The recipes of CONTRIBUTING.md, followed to the letter in one copy of the project, which is then run as a whole."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pandas as pd
import pytest
import yaml
from study import ROOT, TINY, copy_project

NUMBERS = {"one": 1, "two": 2, "three": 3}
SECTIONS = dict(
    section.split("\n", 1) for section in (ROOT / "CONTRIBUTING.md").read_text().split("\n## ")[1].split("\n### ")[1:]
)
CATALOGUE = "scripts/oversmoothing/catalogue"
CONFIG = {"corpus": {"source": "poems", "paths": ["poems/*.txt"]}}
CONFIG["decodings"] = [{"name": "pure"}, {"name": "greedy"}, {"name": "top-a", "a": 0.2}]


def blocks(recipe):
    """Return the code of a recipe, in order, without its indentation."""
    (text,) = (text for heading, text in SECTIONS.items() if heading.startswith(recipe))
    return [textwrap.dedent(code) for code in re.findall(r"```\w+\n(.*?)```", text, flags=re.DOTALL)]


class Contributor:
    """Follows recipes in a copy of the project, and counts the places that each touches."""

    def __init__(self, study):
        self.study = study
        self.places = {}

    def add(self, recipe, path, code, before=None):
        """Put code into a file, before some text of it or at its end; a file of that name may be new."""
        file = self.study.folder / path
        text = file.read_text() if file.exists() else ""
        assert before is None or text.count(before) == 1, f"{path}: {before!r}"
        start = len(text) if before is None else text.index(before)
        file.write_text(f"{text[:start]}{code}{text[start:]}")
        self.places[recipe] = self.places.get(recipe, 0) + 1


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the project with six new things, which has made all tables, figures and the report."""
    study = copy_project(tmp_path_factory.mktemp("recipes"))
    contributor = Contributor(study)
    add = contributor.add

    (metric,) = blocks("A metric")
    add("A metric", f"{CATALOGUE}/metrics.py", textwrap.indent(metric, "    "), before='    "tbat": Metric(')

    entry, function = blocks("A decoding method")
    add("A decoding method", f"{CATALOGUE}/decoders.py", textwrap.indent(entry, "    "), before='    "bat": Decoder(')
    add("A decoding method", "scripts/oversmoothing/decoding.py", f"{function}\n\n", before="def nucleus(")

    (rule,) = blocks("A table")
    add("A table", "workflow/rules/tables.smk", f"\n\n{rule}")
    add("A table", "workflow/report/tables/greedy.rst", "**Greedy decoding.** How much each rank leaks under it.\n")

    script, rule = blocks("A figure")
    add("A figure", "scripts/tto_figure.py", script)
    add("A figure", "workflow/rules/tables.smk", f"\n\n{rule}")
    add("A figure", "workflow/report/figures/tto.rst", "**TTO by rank.** A line for each truth.\n")

    module, opener = blocks("A corpus")
    function, listed = opener.split("SOURCES:")
    (line,) = re.findall(r'^    "poems".*\n', listed, flags=re.MULTILINE)
    sources = study.folder / "scripts/oversmoothing/corpus/sources.py"
    add("A corpus", "scripts/oversmoothing/corpus/poems.py", module)
    add("A corpus", "scripts/oversmoothing/corpus/sources.py", f"{function}\n\n", before="def files(")
    sources.write_text(re.sub(r"(SOURCES: .*\{\n)", lambda found: found[1] + line, sources.read_text()))

    test, claim = blocks("A claim")
    add("A claim", "scripts/oversmoothing/claims/models.py", f"\n\n{test}")
    claims = study.folder / "scripts/oversmoothing/claims/claims.py"
    inner = textwrap.indent(textwrap.dedent(claim.strip().removeprefix("(").removesuffix(")").strip("\n")), "    ")
    (first,) = re.findall(r"^CLAIMS.*\n", claims.read_text(), flags=re.MULTILINE)
    claims.write_text(claims.read_text().replace(first, first + inner + "\n"))
    contributor.places["A claim"] += 1

    write_poems(study.folder)
    (study.folder / "mine.yaml").write_text(yaml.safe_dump(CONFIG))
    study.snakemake("all", config=(TINY, "mine.yaml"))
    study.snakemake("all", config=(TINY, "mine.yaml"), options=["--report", "report.html"])
    return contributor


def write_poems(folder):
    """Write the text of the study as files of poems."""
    texts = [json.loads(line)["text"] for line in (folder / "text.jsonl").read_text().splitlines()]
    (folder / "poems").mkdir()
    for i in range(3):
        (folder / f"poems/{i}.txt").write_text("\n***\n".join(texts[i::3]))


def test_tests_of_metrics_schema_and_decodings_pass_with_them_after_make_keys(house):
    folder = house.study.folder
    names = ["test_metrics", "test_schema", "test_decoding", "imposed_rank/test_imposed_rank_table"]
    files = [f"tests/{name}.py" for name in (*names, "dynamics/test_along_training")]
    for file in ("pyproject.toml", "tests/conftest.py", *files):
        (folder / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    environment = {**os.environ, "PYTHONPATH": "workflow:scripts"}
    for module in (["schemas.describe"], ["pytest", "-p", "no:cacheprovider", *files]):
        command = [sys.executable, "-m", *module]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def table(house, name):
    return pd.read_csv(house.study.folder / f"results/tables/{name}.csv")


def page(house, name):
    return (house.study.folder / f"results/tables/{name}.md").read_text()


def test_every_recipe_touches_as_many_places_as_its_heading_says(house):
    headings = dict(re.fullmatch(r"(.+): (\w+) places?", heading).groups() for heading in SECTIONS)
    said = {recipe: NUMBERS[count] for recipe, count in headings.items()}
    assert said == {
        "A metric": 1,
        "A decoding method": 2,
        "A table of existing scores": 2,
        "A figure": 3,
        "A corpus": 2,
        "A claim": 2,
    }
    assert {recipe.removesuffix(" of existing scores"): count for recipe, count in said.items()} == house.places


@pytest.mark.parametrize("name", ["oversmoothing", "decodings", "decodings_pooled", "svd", "imposed_rank"])
def test_a_metric_stands_in_every_table_of_scores(house, name):
    found = table(house, name)
    column = "metric" if "metric" in found else "measure"
    brier = found[found[column] == "brier"]
    assert len(brier) == (found[column] == "kl").sum() > 0
    assert (brier["mean"] >= 0).all()
    assert (brier.unit == "probability").all()
    assert "Brier" in page(house, name)


def test_a_metric_is_followed_along_training_and_shown_for_prompts(house):
    assert "brier" in set(table(house, "along_training").measure)
    assert "brier" in table(house, "next_byte").columns


def test_a_metric_has_a_panel_in_the_figure_of_imposed_ranks(house):
    assert "Brier" in text_of(house.study.folder / "results/figures/imposed_rank.svg", house)


def text_of(figure, house):
    """Return the words of a figure, which the SVG holds as comments beside their outlines."""
    return " ".join(re.findall(r"<!-- (.*?) -->", figure.read_text()))


def test_a_decoding_method_is_scored_sampled_and_accepted_at_the_command_line(house):
    for name in ("decodings", "tbat", "sample_quality"):
        assert "top-a" in set(table(house, name).decoding), name
    assert (house.study.folder / "results/samples/bn4-s1337/top-a.parquet").exists()
    command = "import sys; from oversmoothing.commands import main; sys.exit(main())"
    command = [sys.executable, "-c", command, "prompt", "wate", "--decoding", "top-a=0.3", "--bytes", "4"]
    environment = {"PYTHONPATH": str(house.study.folder / "scripts"), "HOME": str(house.study.folder)}
    done = subprocess.run(command, cwd=house.study.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "bn4-s1337" in done.stdout


def test_a_table_and_a_figure_are_made_and_stand_in_the_report(house):
    assert len(table(house, "greedy")) > 0
    assert set(table(house, "greedy").decoding) == {"greedy"}
    for suffix in ("md", "html", "tex"):
        assert (house.study.folder / f"results/tables/greedy.{suffix}").stat().st_size > 200
    assert (house.study.folder / "results/figures/tto.png").stat().st_size > 5000
    report = (house.study.folder / "report.html").read_text()
    for label in ("results/tables/greedy.html", "results/figures/tto.svg", "Greedy decoding", "TTO by rank"):
        assert label in report, label


def test_a_corpus_is_what_the_models_read(house):
    manifest = json.loads((house.study.folder / "results/corpus/manifest.json").read_text())
    assert manifest["source"] == {"source": "poems", "files": 3}


def test_a_claim_has_a_verdict_here_and_on_the_published_tables(house):
    claims = table(house, "claims").set_index("id")
    assert claims.loc["greedy-leaks-less", ["verdict", "published_verdict"]].notna().all()
    assert "Every model leaks less under greedy decoding than under pure sampling." in page(house, "claims")
