"""The pictures of the DAG in docs/architecture.md and the studies against the rules that real configs use."""

import re
from itertools import product

import yaml
from study import ROOT, TINY, copy_project, rules_of

from plan import studies

HUB = {"hub": "owner/name", "revision": "main", "layout": "causal_lm", "byte_offset": 3, "bos": None}
VIEW = {"name": "view", "hub": "owner/tokens", "layout": "tokens"}
EVERYTHING = {
    "corpus": {"source": "fineweb", "paths": [], "overlap_words": None},
    "truths": [{"name": "hub", **HUB}, {"name": "truth", "model": {}}, VIEW],
    "family": [{"rank": 4}, {"rank": 16}, {"rank": 4, "objective": {"name": "tailr", "gamma": 0.1}}],
    "samples": {"decodings": [{"name": "min-p", "min_p": 0.05}]},
    "seeds": [1337, 1],
    "learning_rates": {"tried": [0.001], "seed": 0},
}
for optional in ROOT.glob("tests/studies/*/every_rule.yaml"):  # what a study needs for all its rules
    EVERYTHING |= yaml.safe_load(optional.read_text())
EVERYTHING["family"] += [{"name": "mine", "path": "mine.safetensors"}]
OF_BYTES = {}
for optional in ROOT.glob("tests/studies/*/every_rule_of_bytes.yaml"):  # and one that refuses tokens
    OF_BYTES |= yaml.safe_load(optional.read_text())
OF_TOKENS = (
    {"tokens": {"vocabulary": 400}, "truths": [{"name": "truth", "model": {}}]},
    {
        "tokens": {"tokenizer": "owner/name"},
        "family": [*EVERYTHING["family"], {"name": "large", "hub": "owner/large"}],
        "truths": [{"name": "hub", "hub": "owner/name"}, {"name": "truth", "model": {}}],
    },
)
BRANCHES = {
    "studies": [],
    "training": {"decay": "stable", "snapshots": False},
    "family": [{"rank": 4}, {"rank": 16}, {"rank": 16, "max_steps": 8}],
}
UNDRAWN = {"all", "story", "architecture_figure"}


def closure(edges):
    """Return all pairs of rules of which the second depends on the first, directly or not."""
    after = {}
    for first, second in edges:
        after.setdefault(first, set()).add(second)

    def reached(name, seen):
        for following in after.get(name, set()) - seen:
            seen.add(following)
            reached(following, seen)
        return seen

    return {(name, following) for name in after for following in reached(name, set())}


def drawn():
    """Return the edges of the pictures: of everything but the studies, and of each study."""
    pages = (ROOT / "docs/architecture.md", *ROOT.glob("workflow/studies/*/README.md"))
    pictures = [text for page in pages for text in re.findall(r"```mermaid\n(.*?)```", page.read_text(), re.DOTALL)]
    lines = [line.split(" --> ") for picture in pictures for line in picture.splitlines() if " --> " in line]
    sides = [[re.findall(r"\w+", side) for side in line] for line in lines]
    return {edge for before, after in sides for edge in product(before, after)}


def within_studies(edges):
    """Return the edges but those from a study to another, which may measure its distributions without knowing it."""
    of = {rule: name for name in studies.there() for rule in rules_of(name)}
    return {(a, b) for a, b in edges if of.get(a, of.get(b)) == of.get(b, of.get(a))}


def planned(study, name, config):
    """Return the edges between the rules of a config."""
    (study.folder / name).write_text(yaml.safe_dump(config))
    output = study.snakemake("all", config=(TINY, name), options=["--rulegraph"])
    rules = dict(re.findall(r'(\d+)\[label ?= ?"(\w+)"', output))
    return {(rules[a], rules[b]) for a, b in re.findall(r"(\d+) -> (\d+)", output)}


def test_the_picture_shows_what_depends_on_what(tmp_path):
    study = copy_project(tmp_path)
    (tmp_path / "mine.safetensors").touch()
    configs = ({}, BRANCHES, EVERYTHING | OF_BYTES, *(EVERYTHING | own for own in OF_TOKENS))
    real = set().union(*(planned(study, "every.yaml", config) for config in configs))
    real = {edge for edge in real if UNDRAWN.isdisjoint(edge)}
    assert closure(within_studies(drawn())) == closure(within_studies(real))
