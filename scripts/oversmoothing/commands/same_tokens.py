"""Whether models can be set beside each other: one tokenizer, and heads that can be measured."""

from collections.abc import Mapping
from pathlib import Path


def contexts(folders: Mapping[str, Path], tokens_of: str) -> dict[str, int]:
    """Longest context, in tokens, of models by name, after all checks that need no weights.

    Parameters
    ----------
    folders : mapping of str to Path
        Folder of each model, by what the user wrote.
    tokens_of : str
        The model whose tokens the others must have.

    Raises
    ------
    UserError
        If a tokenizer is another one, or a head cannot be measured (see `truths.load.check_token_lm`).
    """
    # They import PyTorch, which takes seconds.
    from oversmoothing.data.tokens.vocabulary import FAST, load_tokenizer, vocabulary_of
    from oversmoothing.models.truths.load import check_token_lm

    path = folders[tokens_of] / FAST
    vocabulary = vocabulary_of(load_tokenizer(path), path)
    return {name: check_token_lm(folder, name, vocabulary) for name, folder in folders.items()}
