"""A tokenizer of each kind, for the tests of tokens."""

import pytest
from hub_models import write_bpe
from small_tokenizers import byte_tokens, sentencepiece

from oversmoothing.data.tokens.vocabulary import load_tokenizer, vocabulary_of


@pytest.fixture(scope="session")
def kinds(tmp_path_factory):
    """Paths of the files of a tokenizer of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    write_bpe(folder / "bpe")
    paths = {"bpe": folder / "bpe/tokenizer.json"}
    for name, tokenizer in (("sentencepiece", sentencepiece()), ("bytes", byte_tokens())):
        paths[name] = folder / f"{name}.json"
        tokenizer.save(str(paths[name]))
    return paths


@pytest.fixture(scope="session")
def tokenizers(kinds):
    """A tokenizer and its vocabulary of each kind."""
    loaded = {kind: load_tokenizer(path) for kind, path in kinds.items()}
    return {kind: (tokenizer, vocabulary_of(tokenizer, kinds[kind])) for kind, tokenizer in loaded.items()}
