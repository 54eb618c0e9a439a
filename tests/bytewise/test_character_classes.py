"""Classes of characters and runs, against how a pre-tokenizer cuts texts that are longer than those it is asked."""

import json

import numpy as np
import pytest
from families import FAMILIES, TEXT, tokenizer_of

from oversmoothing.bytewise.characters import classes


def cut_by(tokenizer):
    return lambda text: [start for _, (start, _) in tokenizer.pre_tokenizer.pre_tokenize_str(text)]


def characters_of(family):
    tokenizer = tokenizer_of(family)
    return classes(json.loads(tokenizer.to_str())["pre_tokenizer"], []), cut_by(tokenizer)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_class_has_one_cut(family):
    """Each character of a text can be replaced by the one that stands for its class."""
    before, split = characters_of(family)
    after = before.merged(split, lambda each: "")
    assert len(after.characters) < len(before.characters)
    draw = np.random.default_rng(0)
    parts = [*before.characters * 2, *before.words, *"'' \n1a", *map(str.upper, before.words), *TEXT[:9]]
    changed = 0
    for _ in range(4000):
        text = "".join(draw.choice(parts, draw.integers(1, 9)))
        stood = "".join(after.characters[after.classes[ord(each)]] for each in text)
        assert split(text) == split(stood), (text, stood)
        changed += text != stood
    assert changed > 1000
