"""The texts of Snakemake's report, as they come out of each config."""

import re
from pathlib import Path

import pytest
from default_config import DEFAULT
from docutils.core import publish_parts
from jinja2 import StrictUndefined, Template

ROOT = Path(__file__).resolve().parents[2]
CAPTIONS = sorted((ROOT / "workflow").rglob("*.rst"))


def rendered(path, **changes):
    config = {**DEFAULT, "unit": "byte", **changes}
    return Template(path.read_text(), undefined=StrictUndefined).render(snakemake={"config": config})


@pytest.mark.parametrize("path", CAPTIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_captions_are_text_and_speak_of_what_the_models_read(path):
    texts = [rendered(path), rendered(path, tokens={"vocabulary": 512}, unit="token")]
    for text in texts:
        assert "{" not in text.replace("{model}", "")
        publish_parts(text, writer="html", settings_overrides={"halt_level": 2, "report_level": 2})
    readme = path.parent / "README.md"  # of a study
    of_bytes = path.stem == "workflow" or (readme.is_file() and "of the bytes of texts" in readme.read_text())
    assert of_bytes or not re.search(r"\bbytes?\b|\b256\b", texts[1], re.IGNORECASE)


def test_the_front_page_names_the_models_of_a_hub():
    (front,) = (path for path in CAPTIONS if path.stem == "workflow")
    named = {"family": [{"name": "small", "hub": "o/small"}], "tokens": {"tokenizer": "o/large"}, "unit": "token"}
    text = " ".join(rendered(front, **named).split())
    assert "the tokens of o/large" in text
    assert "the models small; truths: truth" in text
    named["tokens"]["tokenizer"] = {"package": "small-model==0.1", "sha256": "0" * 64}
    assert "the tokens of small-model==0.1," in " ".join(rendered(front, **named).split())
    assert "Godey" not in text
    assert "small language models over bytes (256 tokens" in " ".join(rendered(front).split())
