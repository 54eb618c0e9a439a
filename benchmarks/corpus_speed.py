"""Throughput of reading a Parquet shard: rows of `datasets` against Arrow's buffers.

Run from anywhere: ``python benchmarks/corpus_speed.py [shard.parquet] [--documents 40000]``. Without a shard it makes
one with FineWeb's columns. All methods run in one process, in alternation, after a check that they yield the same
bytes.
"""

import argparse
import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from oversmoothing.data.columnar import text_batches
from oversmoothing.data.shards import joined

Side = Callable[[Path], Iterator[Any]]
REPEATS = 5
DOCUMENTS = 40_000
WORDS = 500  # per document on average: about 3,000 bytes, as in FineWeb


def main(shard: str | None, documents: int) -> None:
    """Print the speed of each method, and the ratios within one run."""
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shard) if shard else made_shard(Path(folder) / "shard.parquet", documents)
        print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, columns {', '.join(pq.read_schema(path).names)}")
        print(f"datasets {datasets.__version__}, pyarrow {pa.__version__}; processor seconds")
        sides: dict[str, Side] = {"datasets rows": rows, "datasets rows, text alone": text_rows, "ours": ours}
        digests = {digest(side(path)) for side in sides.values()}  # compiles and imports, too
        if len(digests) > 1:
            raise SystemExit("the methods yield different bytes")
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(REPEATS):
            for name, side in sides.items():
                start = time.process_time()
                size = sum(len(data) for data in side(path))
                seconds[name].append(time.process_time() - start)
    for name, spent in seconds.items():
        ratios = np.array(spent) / np.array(seconds["ours"])
        print(
            f"{name:26s} {size / np.median(spent) / 1e6:8,.0f} MB/s   time / ours: median {np.median(ratios):5.1f} "
            f"(from {ratios.min():.1f} to {ratios.max():.1f})"
        )


def rows(path: Path, columns: list[str] | None = None) -> Iterator[bytes]:
    """Iterate over rows, as in the documentation of `datasets`."""
    options = {"columns": columns} if columns else {}
    stream = datasets.load_dataset("parquet", data_files=str(path), split="train", streaming=True, **options)
    for row in stream:
        yield row["text"].encode()


def text_rows(path: Path) -> Iterator[bytes]:
    """Iterate over rows, reading only the text column."""
    return rows(path, ["text"])


def ours(path: Path) -> Iterator[memoryview]:
    """Yield each batch's buffer."""
    return map(joined, text_batches(path, "text"))


def digest(parts: Iterator[Any]) -> str:
    """Return the SHA-256 of the bytes that a method yields."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def made_shard(path: Path, documents: int) -> Path:
    """Write a shard with FineWeb's columns, row groups of 1,000 and texts of random words."""
    draw = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfw"))
    words = np.array(["".join(draw.choice(letters, draw.integers(2, 10))) for _ in range(20_000)])
    texts = [" ".join(words[draw.zipf(1.3, draw.integers(50, 2 * WORDS)) % len(words)]) for _ in range(documents)]
    number = range(len(texts))
    table = pa.table(
        {
            "text": texts,
            "id": [f"<urn:uuid:{i:036d}>" for i in number],
            "dump": ["CC-MAIN-2020-05"] * len(texts),
            "url": [f"https://example.org/{i}/page.html" for i in number],
            "date": ["2020-01-28T00:00:00Z"] * len(texts),
            "file_path": [f"s3://commoncrawl/crawl-data/{i // 1000}.warc.gz" for i in number],
            "language": ["en"] * len(texts),
            "language_score": draw.random(len(texts)),
            "token_count": [len(text) // 4 for text in texts],
        }
    )
    pq.write_table(table, path, row_group_size=1000, compression="snappy")
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shard", nargs="?")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of the shard that is made")
    arguments = parser.parse_args()
    main(arguments.shard, arguments.documents)
