"""Download of the first texts of a large corpus with `datasets`, without downloading whole shards."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from oversmoothing.data.shards import too_little
from oversmoothing.hub.listing import Repository, patiently
from oversmoothing.store.parquet import open_writer

ROWS = 1000


def stream_texts(repository: Repository, files: Sequence[str], column: str, budget: int, path: Path) -> None:
    """Write the first `budget` bytes of text of Parquet files on the hub, up to the end of a document.

    Only this column of the required row groups is transferred. A partial download cannot be compared with the whole
    file's checksum and restarts after an interruption; `path` appears when it is complete.

    Raises
    ------
    UserError
        If the files lack the column, contain too little text, or cannot be downloaded.
    """
    patiently(repository, lambda: _stream(repository, files, column, budget, path))


def _stream(repository: Repository, files: Sequence[str], column: str, budget: int, path: Path) -> None:
    import datasets  # takes seconds to import and is needed only for a budget

    sources = [f"hf://datasets/{repository.name}@{repository.revision}/{file}" for file in files]
    schema = pa.schema([pa.field(column, pa.large_string())])
    facts = {"repository": str(repository), "files": " ".join(files), "budget": str(budget)}
    taken = 0
    with (
        open_writer(path, schema, facts) as writer,
        tqdm(desc=path.name, total=budget, unit="B", unit_scale=True, disable=None) as bar,
    ):
        stream = datasets.load_dataset("parquet", data_files=sources, split="train", streaming=True, columns=[column])
        for batch in stream.with_format("arrow").iter(batch_size=ROWS):
            texts = batch.column(column).cast(pa.large_string()).combine_chunks()
            ends = taken + np.cumsum(pc.fill_null(pc.binary_length(texts), 0).to_numpy())
            count = min(len(texts), int(np.searchsorted(ends, budget)) + 1)
            writer.write_table(pa.table([texts[:count]], schema))
            bar.update(int(ends[count - 1]) - taken)
            taken = int(ends[count - 1])
            if taken >= budget:
                return
        raise too_little(files, budget, taken)
