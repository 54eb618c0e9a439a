"""The pictures of the DAG in docs/architecture.md and in the READMEs of the studies have all rules, and no others."""

import re

from study import ROOT, rules_of

UNDRAWN = {"all", "assets", "needs", "so_far", "story", "architecture_figure"}


def drawn(page):
    """Return the rules in the picture of a page."""
    pictures = re.findall(r"```mermaid\n(?:flowchart|graph) \w+\n(.*?)```", page.read_text(), re.DOTALL)
    return {name for picture in pictures for name in re.findall(r"\w+", re.sub(r"-->|&", " ", picture))}


def test_the_pictures_have_all_rules_and_no_others():
    core = "\n".join(path.read_text() for path in ROOT.glob("workflow/rules/*.smk"))
    rules = {*re.findall(r"^ *(?:rule|use rule \w+ as) (\w+)", core, flags=re.MULTILINE)}
    assert drawn(ROOT / "docs/architecture.md") == rules - UNDRAWN
    for page in ROOT.glob("workflow/studies/*/README.md"):
        own = rules_of(page.parent.name)
        assert own <= drawn(page) <= own | rules | rules_of(), page
