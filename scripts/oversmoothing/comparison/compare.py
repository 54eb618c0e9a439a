"""A model beside a truth on a text: all measures that what is known of them allows, as a record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
from tqdm import tqdm

from oversmoothing.comparison.pair import Pair, find_pair
from oversmoothing.comparison.passages import draw_passages
from oversmoothing.comparison.settings import FEW, LARGE, Settings
from oversmoothing.comparison.stream import Noise, OfBytes, OfTokens, Seen, open_stream
from oversmoothing.data.tokens.vocabulary import AUTO, Before
from oversmoothing.jobs import UserError
from oversmoothing.measures.catalogue import Measure, measures
from oversmoothing.measures.summaries import Sums
from oversmoothing.measures.window import Window
from oversmoothing.models.device import setup
from oversmoothing.numerics.compiled import use_threads
from oversmoothing.scores.decoding import decoding_name
from oversmoothing.tables.record import record

TABLES = ("losses", "oversmoothing", "forced", "side_by_side", "acceptance", "clipping")  # of measures, in this order
Columns = Mapping[str, np.ndarray]


class Watcher(Protocol):
    """What is told of a comparison while it is made."""

    def begin(self, pair: Pair, windows: pa.Table, stream: OfTokens | OfBytes) -> None:
        """Take the pair, the passages and the models, before the first passage is read."""
        ...

    def add(self, seen: Seen, columns: Mapping[str, Columns]) -> None:
        """Take a window that was measured, and its columns by the names of measures."""
        ...


@dataclass(frozen=True)
class Compared:
    """A comparison that was made."""

    pair: Pair
    table: pd.DataFrame  # the record
    noise: Noise | None  # of a KL; None over bytes


def compare(
    model: str,
    truth: str,
    text: str | Path,
    *,
    windows: int = Settings.windows,
    prompt: int | None = None,
    scored: int | None = None,
    over_bytes: bool = False,
    column: str = Settings.column,
    split_on: str | None = None,
    bos: Before | str = AUTO,
    device: str = Settings.device,
    precision: str = Settings.precision,
    tbat: int | None = None,
    forced: int = Settings.forced,
    temperature: float = Settings.temperature,
    top_p: float = Settings.top_p,
    cores: int = Settings.cores,
    assets: str | Path = Settings.assets,
) -> pd.DataFrame:
    """Return how far a language model is from another one on a text, as the command ``compare-models`` prints it.

    Both models read the same passages, some at a time, and nothing is kept of a passage but a few numbers a position.

    Parameters
    ----------
    model : str
        A causal language model: a folder in the Hugging Face format, a ``.gguf`` file or a name on the hub.
    truth : str
        The model that it is measured against.
    text : str or Path
        A file, a folder or a glob.
    windows : int
        Passages of the text.
    prompt, scored : int, optional
        Tokens of each passage before the first scored one, and scored tokens; 64 each, or 256 bytes.
    over_bytes : bool
        Compare distributions of bytes, as where the tokenizers differ.
    column : str
        The column or field of a file of columns or records that holds the text.
    split_on : str, optional
        What stands between the documents of the text.
    bos : int, tuple of int, None or "auto"
        Ids before every passage; "auto": those that the model's tokenizer puts there.
    device : {"auto", "cpu", "cuda"}
        Where the models run.
    precision : {"auto", "bf16", "float32"}
        Of the models.
    tbat : int, optional
        Positions of each passage at which TBAT is computed; 1, over more than 10,000 tokens in 16 of the passages.
    forced : int
        Positions of each passage at which what the head forces is computed.
    temperature, top_p : float
        Settings of two of the decodings whose acceptance is measured.
    cores : int
        Processors that are used.
    assets : str or Path
        Folder of fetched and converted models.

    Returns
    -------
    DataFrame
        The record: a row per number, with its ``table``, ``model``, ``truth``, ``decoding``, ``quantile``, ``measure``,
        ``value``, ``unit`` and 95 % interval over passages, ``low`` to ``high``.

    Raises
    ------
    UserError
        If the models cannot be compared or the text cannot be read; the message says what to do.

    Examples
    --------
    >>> import oversmoothing
    >>> table = oversmoothing.compare("model-Q4_0.gguf", "owner/name", "book.txt", windows=20)  # doctest: +SKIP
    >>> table[table.measure == "kl"].value.iloc[0]  # doctest: +SKIP
    """
    return run(Settings(**locals())).table


def run(settings: Settings, watchers: Sequence[Watcher] = (), corpus: Path | None = None) -> Compared:
    """Make a comparison; `watchers` are told of each window, and `corpus` is a folder that keeps the text.

    Errors are those of `compare`.
    """
    with Steps() as begin:
        begin("the models' files")
        pair = find_pair(settings)
        begin("passages of the text")
        windows = draw_passages(pair, corpus)
        measured, noise = measure(pair, windows, chosen(pair, len(windows)), begin, watchers)
    rows = []
    for whose, sums in measured:
        for row in sums.rows():
            rows.append({**facts_of(pair, sums.measure, whose), **row, "unit": row["unit"].format(unit=pair.unit)})
    rows.sort(key=lambda row: TABLES.index(row["table"]))
    return Compared(pair, record(rows), noise)


def measure(
    pair: Pair,
    windows: pa.Table,
    wanted: Sequence[Measure],
    begin: Callable[[str], None],
    watchers: Sequence[Watcher] = (),
) -> tuple[list[tuple[str, Sums]], Noise | None]:
    """Run both models over windows, one batch after another, and measure what is wanted and possible.

    Returned are the name of a model and the sums of a measure, of each of both, and what of a KL is noise. `begin` is
    told what is done, and `watchers` of each window.
    """
    settings, count = pair.settings, len(windows)
    begin("the models' weights")
    compute = setup(settings.device, {"precision": settings.precision, "threads": settings.cores})
    use_threads(settings.cores)
    stream = open_stream(pair, compute)
    begin("what of a KL is noise")
    noise = stream.noise(windows)
    for watch in watchers:
        watch.begin(pair, windows, stream)
    sums: dict[tuple[str, int], Sums] = {}
    begin("the first passage, for which some code may have to be compiled")
    for seen in _shown(stream.windows(windows), count, begin):
        columns: dict[str, Columns] = {}
        for i, of in enumerate(wanted):
            for whose, window in _sides(of, seen.window, pair):
                found = _measured(of, window, settings)
                sums.setdefault((whose, i), Sums(of)).add(window.number, found)
                if whose == pair.settings.names[0]:
                    columns.setdefault(of.name, found)
        for watch in watchers:
            watch.add(seen, columns)
    return [(whose, of_measure) for (whose, _), of_measure in sums.items()], noise


def chosen(pair: Pair, windows: int) -> list[Measure]:
    """Return the measures of a comparison with the settings that were asked for; acceptance once for each decoding."""
    settings, known = pair.settings, measures()
    few = None
    if not pair.why and settings.tbat is None and windows > FEW and len(pair.tokens[1]) > LARGE:
        few = FEW
    wanted = []
    for name, of in known.items():
        if name == "tbat":
            wanted.append(of.with_settings(per_window=settings.tbat or 1, windows=few))
        elif name == "forced":
            wanted.append(of.with_settings(per_window=settings.forced))
        elif name == "acceptance":
            wanted += [] if pair.why else [of.with_settings(decoding=entry) for entry in settings.decodings]
        elif of.table in TABLES:
            wanted.append(of)
    return wanted


def facts_of(pair: Pair, of: Measure, whose: str) -> dict[str, Any]:
    """Return the columns of the record that say what a measure is of."""
    model, truth = pair.settings.names
    decoding = of.settings.get("decoding")
    return {
        "table": of.table,
        "model": whose,
        "kind": "family" if whose == model else "truth",
        "truth": truth if "truth" in of.needs else None,
        "decoding": decoding_name(decoding) if decoding else None,
    }


class Steps:
    """A line on a terminal that says what is done before and between bars; used as a context, it is a function."""

    def __enter__(self) -> Callable[[str], None]:
        self.bar = tqdm(bar_format="{desc}, after {elapsed}", leave=False, disable=None)
        return self.begin

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def begin(self, step: str) -> None:
        """Say what is done from now on; nothing for an empty step."""
        self.bar.set_description_str(step)
        if not step:
            self.bar.clear()


def _shown(windows: Iterator[Seen], count: int, begin: Callable[[str], None]) -> Iterator[Seen]:
    """Yield windows; a bar shows the time left from the second one on, because the first may compile code."""
    yield next(windows)
    begin("")
    yield from tqdm(windows, total=count, initial=1, unit="passage", disable=None)


def _sides(of: Measure, window: Window, pair: Pair) -> Iterator[tuple[str, Window]]:
    """Yield the name of each model that a measure is of, and what it is given."""
    model, truth = pair.settings.names
    if window.has >= set(of.needs):
        yield model, window
    if not {"truth", "head"} & set(of.needs) and window.of_truth.has >= set(of.needs):
        yield truth, window.of_truth


def _measured(of: Measure, window: Window, settings: Settings) -> Columns:
    try:
        return of.of(window, **of.settings)
    except (UserError, ValueError) as error:
        raise UserError(f"{settings.model} beside {settings.truth}, passage {window.number}: {error}") from error
