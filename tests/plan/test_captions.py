"""The texts of Snakemake's report, as they come out of each config."""

import re
from pathlib import Path

import pytest
from default_config import DEFAULT
from docutils.core import publish_parts
from jinja2 import StrictUndefined, Template

from oversmoothing.tables.story import caption, read_story

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "workflow/report/workflow.rst"
TOLD = [
    pytest.param(path, kind, name, id=f"{kind}-{name}")
    for path in (*ROOT.glob("scripts/oversmoothing/tables/*.story.md"), *ROOT.glob("workflow/studies/*/story.md"))
    for kind in ("Table", "Figure")
    for name in read_story(path).told(kind)
]


def rendered(**changes):
    config = {**DEFAULT, "unit": "byte", **changes}
    return Template(FRONT.read_text(), undefined=StrictUndefined).render(snakemake={"config": config})


def checked(text):
    assert "{" not in text
    publish_parts(text, writer="html", settings_overrides={"halt_level": 2, "report_level": 2})
    return text


@pytest.mark.parametrize(("path", "kind", "name"), TOLD)
def test_captions_are_text_and_speak_of_what_the_models_read(path, kind, name):
    of_bytes, of_tokens = (checked(caption(kind, name, [read_story(path)], unit=unit)) for unit in ("byte", "token"))
    assert len(of_bytes) > 100
    readme = path.parent / "README.md"  # of a study
    allowed = readme.is_file() and "of the bytes of texts" in readme.read_text()
    assert allowed or not re.search(r"\bbytes?\b|\b256\b", of_tokens, re.IGNORECASE)


def test_the_front_page_names_the_models_of_a_hub():
    checked(rendered())
    named = {"family": [{"name": "small", "hub": "o/small"}], "tokens": {"tokenizer": "o/large"}, "unit": "token"}
    text = " ".join(checked(rendered(**named)).split())
    assert "the tokens of o/large" in text
    assert "the models small; truths: truth" in text
    named["tokens"]["tokenizer"] = {"package": "small-model==0.1", "sha256": "0" * 64}
    assert "the tokens of small-model==0.1," in " ".join(rendered(**named).split())
    assert "Godey" not in text
    assert "small language models over bytes (256 tokens" in " ".join(rendered().split())
