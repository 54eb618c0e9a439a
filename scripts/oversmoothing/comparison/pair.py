"""Two models that are compared: their files, and whether tokens or bytes are compared."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer

from oversmoothing.comparison.settings import Settings
from oversmoothing.data.tokens.alike import PROBE
from oversmoothing.data.tokens.limits import encoded
from oversmoothing.data.tokens.vocabulary import Vocabulary, first_difference
from oversmoothing.hub.cache import check_links
from oversmoothing.hub.names import is_studied
from oversmoothing.jobs import UserError
from oversmoothing.models.source import Source, described, find_model, tokenizer_of
from oversmoothing.models.truths.load import Described, check_token_lm


@dataclass(frozen=True)
class Pair:
    """Two models whose files are here and fit each other."""

    settings: Settings
    sources: tuple[Source, Source]  # of model and truth
    why: str | None  # bytes are compared; None: tokens are
    cap: float | None  # c of the model's logits c tanh(z / c), if they are capped and tokens are compared

    @property
    def folders(self) -> tuple[Path, Path]:
        """Folders of model and truth."""
        return self.sources[0].folder, self.sources[1].folder

    @property
    def unit(self) -> str:
        """What a position is."""
        return "byte" if self.why else "token"

    @property
    def lengths(self) -> tuple[int, int]:
        """Length of a prompt and of what is scored after it."""
        return self.settings.lengths(self.why is not None)

    @cached_property
    def tokens(self) -> tuple[Tokenizer, Vocabulary]:
        """The truth's tokenizer, by which a text is divided, and its vocabulary."""
        return tokenizer_of(self.folders[1])


def find_pair(settings: Settings, may_be_bytes: bool = True) -> Pair:
    """Find both models, fetch or convert what is not here, and check that they can be compared.

    A `UserError` says why they cannot; with `may_be_bytes`, different tokenizers are no reason.
    """
    given = settings.model, settings.truth
    sources = tuple(find_model(name, None, settings.assets) for name in given)
    for name, source in zip(given, sources, strict=True):
        if is_studied(source.folder):
            raise UserError(
                f"{name}: a model that a study trained, which reads bytes; `head` and `size` measure it, and a config "
                "compares it (see docs/tokens.md)"
            )
        check_links(source.folder)
    folders = dict(zip(given, (source.folder for source in sources), strict=True))
    why = None
    if settings.over_bytes:
        why = "as --bytes asks"
    elif may_be_bytes and (difference := differ(folders[settings.truth], folders[settings.model])):
        why = f"because the tokenizers differ ({difference})"
    if why:
        files = {name: _alone(folder, name, settings) for name, folder in folders.items()}
    else:
        files = described(folders, settings.truth, settings.bos)
    length, of_bytes = sum(settings.lengths(why is not None)), " bytes, each of which may be a token" if why else ""
    for name, of_model in files.items():
        if of_model.context < length:
            raise UserError(
                f"{name}: it reads at most {of_model.context} tokens, and --prompt and --scored are "
                f"{length}{of_bytes}; lower them"
            )
    cap = None if why else files[settings.model].cap
    return Pair(settings, (sources[0], sources[1]), why, cap)


def differ(one: Path, other: Path) -> str | None:
    """Return in words how the tokenizers of two models differ; None if they divide texts alike."""
    (first, tokens), (second, others) = (tokenizer_of(folder) for folder in (one, other))
    if difference := first_difference(tokens, others):
        return difference
    ids = (encoded(each, PROBE).ids for each in (first, second))
    return None if next(ids) == next(ids) else "their tokens are the same, but they divide texts differently"


def _alone(folder: Path, name: str, settings: Settings) -> Described:
    """Return what the files of a model say with its own tokenizer."""
    return check_token_lm(folder, name, tokenizer_of(folder)[1], settings.bos)
