"""The recipes of CONTRIBUTING.md, followed to the letter in a copy of the project, which then makes everything."""

import json
import re

import yaml
from hub_models import write_neox
from study import ROOT, TINY, copy_project

SECTIONS = dict(
    section.split("\n", 1) for section in (ROOT / "CONTRIBUTING.md").read_text().split("\n## ")[1].split("\n### ")[1:]
)
TABLES, AFTER_SCORES = "workflow/plan/tables.py", "\n\ndef _of_losses_and_samples("
CATALOGUE = "scripts/oversmoothing/scores/catalogue"
CASES = "tests/claims/test_every_claim.py"
MINE = "mine.yaml"
SETTINGS = {
    "corpus": {"source": "poems", "paths": ["poems/*.txt"]},
    "decodings": [*yaml.safe_load((ROOT / "config/config.yaml").read_text())["decodings"], {"name": "top-a", "a": 0.2}],
}
for more in ROOT.glob("tests/studies/*/everything.yaml"):  # what a study needs for all that it makes
    SETTINGS |= yaml.safe_load(more.read_text())
CONFIG = (TINY, MINE)


def text_of(recipe):
    """Return the section of a recipe."""
    (text,) = (text for heading, text in SECTIONS.items() if heading.startswith(recipe))
    return text


def blocks(recipe):
    """Return the code of a recipe, in order, as a reader copies it: without the indentation of a list around it."""
    found = re.findall(r"^( *)```\w+\n(.*?)^ *```", text_of(recipe), flags=re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{margin}", "", code, flags=re.MULTILINE) for margin, code in found]


def add(study, path, code, before=None):
    """Put code into a file, before some text of it or at its end; a file of that name may be new."""
    file = study.folder / path
    text = file.read_text() if file.exists() else ""
    assert before is None or text.count(before) == 1, f"{path}: {before!r}"
    start = len(text) if before is None else text.index(before)
    file.write_text(f"{text[:start]}{code}{text[start:]}")


def metric(study):
    """Add the metric."""
    (entry,) = blocks("A metric")
    add(study, f"{CATALOGUE}/metrics.py", entry, before='    "tbat": Metric(')


def measure(study):
    """Add the measure."""
    (module,) = blocks("A measure")
    add(study, "scripts/oversmoothing/measures/entries/unseen.py", module)


def method(study):
    """Add the decoding method."""
    (module,) = blocks("A decoding method")
    add(study, "scripts/oversmoothing/scores/decodings/top_a.py", module)


def table(study):
    """Add the table of existing scores."""
    entry, words = blocks("A table")
    add(study, TABLES, entry, before=AFTER_SCORES)
    add(study, "scripts/oversmoothing/tables/decoding.story.md", words)


def figure(study):
    """Add the figure."""
    script, entry, words = blocks("A figure")
    add(study, "scripts/tto_figure.py", script)
    add(study, TABLES, entry, before=AFTER_SCORES)
    add(study, "scripts/oversmoothing/tables/oversmoothing.story.md", words)


def corpus(study):
    """Add the corpus."""
    module, opener = blocks("A corpus")
    function, listed = opener.split("SOURCES:")
    (line,) = re.findall(r'^    "poems".*\n', listed, flags=re.MULTILINE)
    sources = study.folder / "scripts/oversmoothing/data/sources.py"
    add(study, "scripts/oversmoothing/data/poems.py", module)
    add(study, "scripts/oversmoothing/data/sources.py", f"{function}\n\n", before="def files(")
    sources.write_text(re.sub(r"(SOURCES: .*\{\n)", lambda found: found[1] + line, sources.read_text()))


def claim(study):
    """Add the claim."""
    test, entry, case = blocks("A claim")
    module, first = "scripts/oversmoothing/claims/decodings.py", '    Claim(\n        "greedy-lowest-under-tto-nsmd"'
    add(study, module, entry, before=first)
    add(study, module, f"{test}\n\n", before="CLAIMS = [")
    if (study.folder / CASES).exists():  # in a copy that the suite's own tests run in
        add(study, CASES, case, before="}\nMENDED = {")


def arm(study):
    """Add the arm."""
    entry, kind = blocks("An arm")
    add(study, "workflow/plan/arms.py", entry, before="    WIDTH,\n    TRUNCATED,\n")
    add(study, "scripts/oversmoothing/tables/kinds.py", kind, before='    "svd": Kind(')


def output_layer(study):
    """Add the output layer."""
    function, entry = blocks("An output layer")
    add(study, "scripts/oversmoothing/models/output_layers.py", function)
    add(study, "scripts/oversmoothing/models/output_kinds.py", entry, before='    "mfs3": mixture(3')


def objective(study):
    """Add the objective."""
    function, entry = blocks("An objective")
    objectives = study.folder / "scripts/oversmoothing/training/objectives.py"
    objectives.write_text(with_objective(objectives.read_text(), function, entry))


def own_study(study):
    """Add the study."""
    plan, step, story = blocks("A study")
    place = "workflow/studies/largest_leak"
    (study.folder / place).mkdir()
    add(study, f"{place}/plan.py", plan)
    add(study, f"{place}/show.py", step)
    add(study, f"{place}/story.md", story)
    add(study, "config/config.yaml", "  - largest_leak\n", before="checkpoints:")


RECIPES = {
    "A metric": metric,
    "A measure": measure,
    "A decoding method": method,
    "A table": table,
    "A figure": figure,
    "A corpus": corpus,
    "An arm": arm,
    "An output layer": output_layer,
    "An objective": objective,
    "A study": own_study,
    "A claim": claim,
}


def follow(folder, built):
    """Put ten new things into a copy of the project; make all tables, figures and the report."""
    study = copy_project(folder, built)
    for recipe in RECIPES.values():
        recipe(study)
    write_poems(folder)
    for name, seed in (("step0", 0), ("step4", 1)):
        write_neox(folder / "neox" / name, seed)
    (folder / MINE).write_text(yaml.safe_dump(SETTINGS))
    study.snakemake("all", config=CONFIG)
    study.snakemake("all", config=CONFIG, options=["--report", "report.html"])


def own_tests(recipe):
    """Return what pytest runs by the last line of a recipe, and the minutes that it says."""
    line = r"^Its tests: `python -m pytest ([^`]*)` \(([\d.]+) minutes?\)"
    (found,) = re.findall(line, text_of(recipe), flags=re.MULTILINE)
    return found[0].split(), float(found[1])


def with_objective(text, function, entry):
    """Return the module of objectives with another one: its function after the others, its entry before them."""
    start, table = "@dataclass(frozen=True)\nclass Objective:", "OBJECTIVES = {\n"
    assert text.count(start) == text.count(table) == 1
    return text.replace(start, f"{function}\n\n{start}").replace(table, f"{table}{entry}")


def write_poems(folder):
    """Write the text of the study as files of poems."""
    texts = [json.loads(line)["text"] for line in (folder / "text.jsonl").read_text().splitlines()]
    (folder / "poems").mkdir()
    for i in range(3):
        (folder / f"poems/{i}.txt").write_text("\n***\n".join(texts[i::3]))
