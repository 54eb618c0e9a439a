"""Each step that reads the corpus checks first that it is the manifest's: Snakemake would not see it change."""

import hashlib
import importlib
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from oversmoothing.jobs import UserError

SPLITS = ("train", "validation", "evaluation")


@pytest.fixture
def corpus(tmp_path):
    """Inputs of a job: the manifest and the splits, which are as it says."""
    text = bytes(range(32, 127)) * 40
    part = {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    for split in SPLITS:
        (tmp_path / f"{split}.bin").write_bytes(text)
    (tmp_path / "manifest.json").write_text(json.dumps({"splits": dict.fromkeys(SPLITS, part)}))
    named = {
        name: str(tmp_path / f"{split}.bin") for name, split in zip(("training", *SPLITS[1:]), SPLITS, strict=True)
    }
    return SimpleNamespace(manifest=str(tmp_path / "manifest.json"), weights=None, **named)


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("train_language_model", "training"),
        ("train_tokenizer", "training"),
        ("retrain_head", "training"),
        ("retrain_head", "validation"),
        ("draw_windows", "evaluation"),
        ("draw_second_windows", "evaluation"),
        ("other_model", "evaluation"),
    ],
)
def test_a_split_that_is_not_the_manifests_is_refused(corpus, script, name):
    """One bit is flipped: the text is as long as it was and reads like any other."""
    path = Path(getattr(corpus, name))
    path.write_bytes(b"!" + path.read_bytes()[1:])
    settings = {"precision": "float32", "threads": 1, "seed": 1, "rank": 4, "count": 2, "vocabulary": 300}
    params, wildcards = SimpleNamespace(settings=settings, device="cpu"), SimpleNamespace(revision="m/main")
    job = SimpleNamespace(input=corpus, output=[], params=params, wildcards=wildcards)
    with pytest.raises(UserError, match=rf"{path}: .*manifest"):
        importlib.import_module(script).main(job)
