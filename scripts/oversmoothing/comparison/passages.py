"""The passages of a text that are compared, drawn as the workflow draws its windows."""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from oversmoothing.comparison.pair import Pair
from oversmoothing.comparison.settings import SEED, Settings
from oversmoothing.data.files import READ, read_beginning
from oversmoothing.data.globs import as_pattern
from oversmoothing.data.reader import read_split
from oversmoothing.data.sources import open_source
from oversmoothing.data.splits import SPLITS, build_splits
from oversmoothing.data.tokens.alike import check_alike
from oversmoothing.data.tokens.special import tell_special_names
from oversmoothing.data.tokens.text import passages
from oversmoothing.data.tokens.vocabulary import FAST, load_tokenizer
from oversmoothing.data.windows import draw_windows
from oversmoothing.jobs import UserError

WHOLE = {"train": 0, "validation": 0, "evaluation": 1}  # shares of the text, of which nothing is trained
SEPARATOR = "\n\n"  # between documents


def draw_passages(pair: Pair, corpus: Path | None = None) -> pa.Table:
    """Draw the passages of a text, as `data.windows.draw_windows` has them; `corpus` is a folder that keeps the text.

    A `UserError` says if the text is too short, or if a tokenizer cannot read it.
    """
    settings, (prompt, scored) = pair.settings, pair.lengths
    _check_length(settings, prompt + scored)
    with nullcontext(str(corpus)) if corpus else TemporaryDirectory() as folder:
        data = _whole_text(settings, Path(folder), 2 * settings.windows * (prompt + scored))
        tokenizers = [load_tokenizer(folder / FAST) for folder in pair.folders]
        tell_special_names(tokenizers if pair.why else tokenizers[1:], data, str(settings.text))
        cut = None if pair.why else passages(data, *pair.tokens, prompt, scored)
        windows = draw_windows(data, settings.windows, prompt, scored, SEED, cut)
    if not pair.why:
        check_alike(pair.tokens[0], pair.folders[0], settings.model, texts_of(windows))
    return windows


def texts_of(windows: pa.Table) -> list[str]:
    """Return the text of each passage, without a character that is cut at its end."""
    parts = (windows[name].to_pylist() for name in ("prompt", "scored"))
    return [(prompt + scored).decode("utf-8", errors="ignore") for prompt, scored in zip(*parts, strict=True)]


def _whole_text(settings: Settings, folder: Path, needed: int) -> np.ndarray:
    """Return all documents of a text, without repetitions, as UTF-8 in a file of the folder, uint8 (bytes,)."""
    cut = {"text": settings.split_on} if settings.split_on else None
    files = {"source": "files", "paths": [as_pattern(settings.text)], "column": settings.column, "cut": cut}
    paths, manifest = {split: folder / f"{split}.bin" for split in SPLITS}, folder / "manifest.json"
    least = {"evaluation": needed}
    build_splits(
        open_source(files), paths, manifest, shares=WHOLE, separator=SEPARATOR, overlap_words=None, at_least=least
    )
    return read_split(paths["evaluation"], manifest, "evaluation")


def _check_length(settings: Settings, length: int) -> None:
    """Raise a `UserError` if the beginning of a text shows that it is too short."""
    each = 2 * length  # bytes of text, as the workflow wants them
    needed = settings.windows * each
    text = read_beginning(settings.text, settings.column, max(needed, READ), settings.split_on).encode()
    if len(text) >= needed:
        return
    most = f"lower --windows {settings.windows} to {len(text) // each}"
    remedy = most if len(text) >= each else "lower --prompt and --scored"
    raise UserError(
        f"--text {settings.text}: {settings.windows:,} passages of {length:,} need {needed:,} bytes, and it has "
        f"{len(text):,}: give a longer text, or {remedy}"
    )
