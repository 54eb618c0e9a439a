"""What a file is by its first bytes, where it is no text or not what its name says."""

from pathlib import Path

from oversmoothing.data.extensions import COLUMNAR, PARQUET, format_of

PARQUET_MARK, ARROW_MARK = b"PAR1", b"ARROW1\0\0"
COMPRESSIONS = {  # extension: first bytes, name
    ".gz": (b"\x1f\x8b", "gzip"),
    ".bz2": (b"BZh", "bzip2"),
    ".xz": (b"\xfd7zXZ\0", "xz"),
    ".zst": (b"\x28\xb5\x2f\xfd", "zstd"),
    ".lz4": (b"\x04\x22\x4d\x18", "lz4"),
}
PANDOC = "convert it to plain text first (`pandoc -t plain FILE -o NEW.txt`)"
OFFICE = (".docx", ".odt", ".epub")
KINDS = {
    b"%PDF-": "a PDF: take out its text first (`pdftotext FILE NEW.txt`)",
    b"{\\rtf": f"RTF: {PANDOC}",
    b"\xd0\xcf\x11\xe0": "a document of an office program: save it as plain text first",
    PARQUET_MARK: "Parquet: rename it to end in .parquet",
    ARROW_MARK: "Arrow: rename it to end in .arrow",
    b"version https://git-lfs": "a pointer of Git LFS in place of the file: fetch that first (`git lfs pull`)",
    b"\x89PNG": "an image, not a text: name another file",
    b"\xff\xd8\xff": "an image, not a text: name another file",
    b"GGUF": "a model, not a text: name another file",
    b"\x93NUMPY": "a NumPy array, not a text: name another file",
    b"SQLite format 3\0": "an SQLite database: write the column with the text to a .csv file",
}
TAR = 257, b"ustar"
MARKUP = {".html": "HTML", ".htm": "HTML", ".xhtml": "HTML", ".xml": "XML"}
PAGE = (b"<!doctype html", b"<html")
START = 512  # bytes that tell


def no_text(data: bytes, path: Path) -> str | None:
    """Return what the first bytes of a file are, and what to do, if they are of no text; else None."""
    suffix = path.suffix.lower()
    if data.startswith(b"PK\x03\x04"):
        if suffix in OFFICE:
            return f"a document of an office program or an e-book: {PANDOC}"
        return "a zip archive: unpack it first, and name a text in it"
    for extension, (mark, name) in COMPRESSIONS.items():
        if data.startswith(mark):
            return f"compressed with {name}: rename it to end in {extension}"
    if data[TAR[0] :].startswith(TAR[1]):
        return "a tar archive: unpack it first, and name the texts in it"
    return next((kind for mark, kind in KINDS.items() if data.startswith(mark)), None)


def markup(path: Path) -> str | None:
    """Return what to do with a file that is named as one of markup, whose tags would be read as text; else None."""
    if name := MARKUP.get(format_of(path)):
        return f"{name}, whose tags would be read as text: {PANDOC}, or rename it to end in .txt"
    return None


def misnamed(path: Path) -> str | None:
    """Return what a file is in place of what its name says, and what to do; None if its first bytes do not tell."""
    with path.open("rb") as file:
        data = file.read(START)
    suffix = path.suffix.lower()
    if data.lower().lstrip().startswith(PAGE):
        return "a web page in place of the file: fetch the file again"
    if suffix in COLUMNAR:
        own = PARQUET_MARK if suffix in PARQUET else ARROW_MARK
        return None if data.startswith(own) else no_text(data, path)
    if suffix not in COMPRESSIONS:
        return no_text(data, path)
    mark, name = COMPRESSIONS[suffix]
    if data.startswith(mark):
        return None
    if other := no_text(data, path):
        return f"not {name}, as its name says, but {other}"
    return f"not compressed with {name}: rename it without {suffix} if it is a text, else fetch it again"
