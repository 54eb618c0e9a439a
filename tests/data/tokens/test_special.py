"""Names of special tokens that are written in a text are counted, and the user is told."""

import numpy as np
import pytest
from small_tokenizers import byte_tokens
from step_jobs import job
from tokenizers import Tokenizer, models

import draw_windows
from oversmoothing.data.sources import open_source
from oversmoothing.data.splits import SPLITS, build_splits
from oversmoothing.data.tokens.special import special_names, tell_special_names
from oversmoothing.data.tokens.vocabulary import vocabulary_of
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance


@pytest.fixture
def tokenizer():
    made = byte_tokens(added=["<tool>"])
    made.add_special_tokens(["<|end|>", "<|end|><|end|>", " "])
    return made


def test_names_are_counted_by_hand(tokenizer):
    text = "<|endoftext|>a<|end|>b<|end|><|end|>c<|endoftext|><tool> é".encode()
    wanted = {"<|endoftext|>": 2, "<|end|>": 1, "<|end|><|end|>": 1}
    assert special_names(tokenizer, text) == special_names(tokenizer, np.frombuffer(text, np.uint8)) == wanted
    assert not special_names(tokenizer, b"")
    assert not special_names(Tokenizer(models.BPE({"a": 0}, [])), text)


def test_the_user_is_told_once_of_all_tokenizers(tokenizer, capsys):
    tell_special_names([tokenizer, byte_tokens()], b"a<|endoftext|>b<|endoftext|><|end|>", "a\x1b.txt")
    assert capsys.readouterr().err == (
        "Note: a\\x1b.txt has '<|endoftext|>' 2 times, '<|end|>' once: names of special tokens, which are read as "
        "text. If one stands between documents, split there: --split-on '<|endoftext|>', or in a config corpus.cut: "
        "{text: '<|endoftext|>'}\n"
    )
    tell_special_names([tokenizer], b"a", "a.txt")
    assert not capsys.readouterr().err


def test_the_job_that_draws_windows_tells_unless_the_text_was_split_there(tmp_path, tokenizer, capsys):
    (tmp_path / "a.txt").write_text("<|endoftext|>".join(f"Story {i} is here. It ends." for i in range(40)))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    write_table(tmp_path / "v.parquet", vocabulary_of(tokenizer, "t").table(), provenance({}))
    paths = {split: tmp_path / f"{split}.bin" for split in SPLITS}
    shares = {"train": 0, "validation": 0, "evaluation": 1}
    for cut, told in ((None, True), ({"text": "<|endoftext|>"}, False)):
        source = open_source({"source": "files", "paths": [str(tmp_path / "a.txt")], "cut": cut})
        build_splits(source, paths, tmp_path / "manifest.json", shares=shares, overlap_words=None)
        capsys.readouterr()
        inputs = {"tokenizer": tmp_path / "tokenizer.json", "vocabulary": tmp_path / "v.parquet"}
        inputs |= {"evaluation": paths["evaluation"], "manifest": tmp_path / "manifest.json"}
        settings = {"count": 3, "prompt": 4, "scored": 4, "seed": 1}
        draw_windows.main(job(inputs, tmp_path / "windows.parquet", settings))
        assert ("the evaluation split has '<|endoftext|>' 39 times" in capsys.readouterr().err) == told
