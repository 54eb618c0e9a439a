"""What a comparison keeps in a folder: passages, predictions, values of all positions, and a config of the workflow."""

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from oversmoothing.bytewise.next_bytes import BYTES
from oversmoothing.comparison.compare import Columns
from oversmoothing.comparison.pair import Pair
from oversmoothing.comparison.passages import WHOLE
from oversmoothing.comparison.stream import OfBytes, OfTokens, Seen
from oversmoothing.data.globs import as_pattern
from oversmoothing.data.tokens.vocabulary import AUTO
from oversmoothing.hub.names import as_folder
from oversmoothing.measures.catalogue import POSITION
from oversmoothing.models.logit_files import head_file, save_head, states_batch, states_schema
from oversmoothing.models.logits import logits_schema, window_keys
from oversmoothing.models.spectra import ALONE
from oversmoothing.store.atomic import no_fault_of
from oversmoothing.store.parquet import open_writer, vector_array, write_table
from oversmoothing.store.provenance import provenance

CONFIG, RESULTS = "config.yaml", "results"  # of the workflow, and the folder in which it goes on
FLOAT32 = "float32"
WANTED = [  # of what the workflow makes without a training text and without a history of losses
    *("oversmoothing", "side_by_side", "forced", "losses", "tokens", "tbat", "decodings", "entropy_difference"),
    *("argmaxability", "effective_rank", "samples"),
]
# Over bytes: tables that need a head, hidden states, samples or tokens.
LEFT_OUT = ("forced", "tokens", "tbat", "argmaxability", "effective_rank", "samples")
OF_LINEAR = ("forced", "tbat")  # tables that need linear logits


class Kept:
    """Writes each window of a comparison; the files are complete when it ends, and after an error there are none.

    ``windows.parquet`` has the passages and ``positions.parquet`` a row per scored position with the values of all
    measures that every position has. ``logits/NAME.parquet`` has the predictions of a model: over tokens what enters
    its head, which lies beside it. ``config.yaml`` is a config of the workflow for the same comparison.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.files = ExitStack()
        self.writers: dict[str, pq.ParquetWriter] = {}

    def __enter__(self) -> "Kept":
        with no_fault_of(f"--keep {self.folder}"):
            self.there = self.folder.is_dir()
            self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.files.__exit__(kind, error, at)
        if kind is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(exist_ok=True) if self.there else None

    def begin(self, pair: Pair, windows: pa.Table, stream: OfTokens | OfBytes) -> None:
        """Write the config, the passages and the heads."""
        config, self.names = study(pair, self.folder), pair.settings.names
        self.facts = provenance(config)
        self.of_model = {name: {**self.facts, "model": name} for name in self.names}
        with no_fault_of(f"--keep {self.folder}"):
            (self.folder / CONFIG).write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
            (self.folder / "logits").mkdir()
        write_table(self.folder / "windows.parquet", windows, self.facts)
        for name, (head, cap) in zip(self.names, stream.heads or (), strict=False):
            facts = {**self.of_model[name], "head": ALONE}
            self.of_model[name] |= save_head(head_file(self._logits(name)), head.weights, head.bias, facts, cap)

    def add(self, seen: Seen, columns: Mapping[str, Columns]) -> None:
        """Write a window that was measured, and its columns."""
        window = seen.window
        if seen.states is not None:
            for name, states in zip(self.names, seen.states, strict=True):
                schema = states_schema(states.post.shape[1], FLOAT32, states.special_mass is not None)
                self._writer(name, self._logits(name), schema).write_batch(states_batch(states, FLOAT32))
        else:
            schema = logits_schema(BYTES, special_mass=True)
            both = (window.model, window.dropped), (window.truth, window.beside)
            for name, (log_p, dropped) in zip(self.names, both, strict=True):
                assert log_p is not None
                rows = [*window_keys(window.number, window.targets), vector_array(log_p), pa.array(dropped)]
                batch = pa.record_batch(rows, schema=schema)
                self._writer(name, self._logits(name), schema).write_batch(batch)
        self._positions(seen, columns)

    def _logits(self, name: str) -> Path:
        return self.folder / f"logits/{name}.parquet"

    def _writer(self, name: str, path: Path, schema: pa.Schema) -> pq.ParquetWriter:
        """Return the writer of a file, which is opened the first time."""
        if name not in self.writers:
            facts = self.of_model.get(name, self.facts)
            self.writers[name] = self.files.enter_context(open_writer(path, schema, facts))
        return self.writers[name]

    def _positions(self, seen: Seen, columns: Mapping[str, Columns]) -> None:
        """Write a row per position, of all columns that have a value for each."""
        n = len(seen.window.targets)
        keys = window_keys(seen.window.number, seen.window.targets)
        values = dict(zip(("window", "position", "target"), keys, strict=True))
        for measure, found in columns.items():
            whole = {name: np.asarray(of) for name, of in found.items() if len(of) == n and name != POSITION}
            values |= {f"{measure}.{name}": pa.array(of) for name, of in whole.items()}
        table = pa.table(values)
        self._writer("", self.folder / "positions.parquet", table.schema).write_table(table)


def study(pair: Pair, folder: Path) -> dict[str, Any]:
    """Return the config with which the workflow makes the other tables and the figures of a comparison."""
    settings, (prompt, scored), of_bytes = pair.settings, pair.lengths, pair.why is not None
    names = settings.names
    bos = {} if settings.bos == AUTO else {"bos": settings.bos}
    view = {"layout": "tokens", "context": 0} if of_bytes else {}
    model, truth = (
        {"name": name, "hub": _absolute(given), **bos, **view}
        for name, given in zip(names, (settings.model, settings.truth), strict=True)
    )
    left_out = LEFT_OUT if of_bytes else OF_LINEAR if pair.cap is not None else ()
    config: dict[str, Any] = {
        "results": str((folder / RESULTS).resolve()),
        "assets": str(Path(settings.assets).resolve()),
        "device": settings.device,
        "wanted": [*(name for name in WANTED if name not in left_out), *(["bytes"] if of_bytes else [])],
        "corpus": {
            "source": "files",
            "paths": [as_pattern(Path(settings.text).expanduser().absolute())],
            "column": settings.column,
            "cut": {"text": settings.split_on} if settings.split_on else None,
            "splits": WHOLE,
            "overlap_words": None,
        },
        "tokens": "bytes" if of_bytes else {"tokenizer": truth["hub"]},
        "windows": {"count": settings.windows, "prompt": prompt, "scored": scored},
        "inference": {"precision": settings.precision},
        "family": [model if pair.cap is None else {**model, "capped": True}],
        "truths": [truth],
        "samples": {"show": list(range(min(3, settings.windows)))},
        "svd_ranks": [],
        "decodings": settings.decodings,
        "metrics": {
            "tbat": {"mass_tolerance": 0.001, "per_window": settings.tbat or 1, "approximations": []},
            "forced": {"per_window": settings.forced},
        },
    }
    if of_bytes:
        config["language_model"] = {"block": prompt + scored}  # checked, though no sample is judged
    if pair.cap is not None:
        config["frontier"] = {"deltas": []}
    return config


def _absolute(given: str) -> str:
    """Return a path that holds in any folder, or a name on the hub as it is."""
    return given if as_folder(given) is None else str(Path(given).expanduser().absolute())
