"""A corpus of a few sentences, and what a step says of one of whose splits a bit has flipped."""

import json
from types import SimpleNamespace

import pytest
from step_jobs import job

import build_corpus
from oversmoothing.data.splits import SPLITS
from oversmoothing.jobs import UserError

WINDOWS = {"count": 5, "prompt": 10, "scored": 30, "seed": 1}


def corpus_job(folder, at_least=None, **changes):
    lines = [json.dumps({"text": f"Text {number} is here. It says {number * 7919}."}) for number in range(400)]
    (folder / "data.jsonl").write_text("\n".join(lines))
    settings = {
        "source": "files",
        "paths": [str(folder / "*.jsonl")],
        "column": "text",
        "splits": {"train": 0.6, "validation": 0.2, "evaluation": 0.2},
        "separator": "\n\n",
        "overlap_words": 13,
        **changes,
    }
    outputs = {split: str(folder / "corpus" / f"{split}.bin") for split in SPLITS}
    output = SimpleNamespace(**outputs, manifest=str(folder / "corpus" / "manifest.json"))
    params = SimpleNamespace(settings=settings, at_least=at_least)
    return SimpleNamespace(output=output, params=params, threads=2)


def assert_a_flipped_bit_is_noticed(folder, main, split):
    """Flip a bit of a split, of which nothing else would tell, as the size is right; let a step read it."""
    build_corpus.main(corpus_job(folder))
    path = folder / "corpus" / f"{split}.bin"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    parts = {name: folder / "corpus" / f"{name}.bin" for name in SPLITS}
    inputs = {"training": parts["train"], "text": parts["train"], "manifest": folder / "corpus" / "manifest.json"}
    inputs |= {"tokenizer": []} | {name: parts[name] for name in ("validation", "evaluation")}
    settings = WINDOWS | {"precision": "float32", "threads": 1}
    step = job(inputs, folder / "out", settings, text="train", corpus="train", revision="m/main", model="m")
    with pytest.raises(UserError, match=rf"{split}\.bin: its sha256 is not the one in the manifest"):
        main(step)
    assert not (folder / "out").exists()
