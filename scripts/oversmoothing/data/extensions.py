"""Formats of texts by the ends of their files' names, one list for configs and commands."""

from pathlib import PurePath

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
JSON_LINES = (".jsonl", ".ndjson")
JSON = ".json"  # an array, or lines, as many corpora have under this name
SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PLAIN = (".txt", ".md", ".text", ".raw", ".tokens", ".rst")
COLUMNAR = (*PARQUET, *ARROW)  # compress their own columns
RECORDS = (*JSON_LINES, JSON, *SEPARATORS)
KNOWN = (*COLUMNAR, *RECORDS, *PLAIN)
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")
LIST = f"{' '.join(KNOWN)} (all but Parquet and Arrow also with {' '.join(COMPRESSED)})"


def format_of(path: str | PurePath) -> str:
    """Return the extension of a file in lower case, below that of a compression: ".jsonl" of ``a.jsonl.gz``."""
    path = PurePath(path)
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix in COMPRESSED else suffix
