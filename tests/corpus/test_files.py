"""Local files as documents, and what is said of files that cannot be read."""

import bz2
import glob
import gzip
import json
import lzma
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plan
from oversmoothing.data import files
from oversmoothing.data import texts as texts_module
from oversmoothing.data.documents import Document
from oversmoothing.data.files import Files
from oversmoothing.data.globs import matching_files
from oversmoothing.data.sources import open_source
from oversmoothing.data.texts import read_texts
from oversmoothing.jobs import UserError

TEXTS = ["First text.", "Zweiter Text, für alle.", "Third.\n\nWith two paragraphs."]


def arrow_compress(codec: str) -> Callable[[bytes], bytes]:
    def compress(data: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()

    return compress


COMPRESSORS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": arrow_compress("zstd"),
    ".lz4": arrow_compress("lz4"),
}


def texts(source: Files) -> list[str]:
    return [document.text for document in source]


def parquet(path: Path, column: str = "text", values: list[str | None] | None = None, **options: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": range(len(values or TEXTS)), column: values or TEXTS}), path, **options)
    return path


def json_lines(values: list[str]) -> bytes:
    return "".join(json.dumps({"text": value}) + "\n" for value in values).encode()


def test_parquet_by_row_groups_and_batches(tmp_path: Path) -> None:
    many = [f"Text number {number}." for number in range(1000)]
    path = parquet(tmp_path / "a.parquet", values=many, row_group_size=300)
    source = Files([str(path)])
    assert texts(source) == texts(source) == many
    assert next(iter(source)) == Document("a.parquet:0", many[0])


def test_another_column(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", column="body")
    corpus = {"source": "files", "paths": [str(path)], "column": "body"}
    assert [document.text for document in open_source(corpus)] == TEXTS
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"body": "x"}\n')
    assert texts(Files([str(lines)], column="body")) == ["x"]


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_every_compression(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"a.jsonl{suffix}").write_bytes(COMPRESSORS[suffix](json_lines(TEXTS)))
    (tmp_path / f"b.txt{suffix}").write_bytes(COMPRESSORS[suffix]("Grüße.".encode()))
    source = Files([str(tmp_path / "*")])
    assert texts(source) == [*TEXTS, "Grüße."]
    assert [document.name for document in source] == [
        *(f"a.jsonl{suffix}:{line}" for line in (1, 2, 3)),
        f"b.txt{suffix}",
    ]


def test_globs_are_sorted_and_files_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.md", "sub/deep/a.text", "a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    source = Files(["**/*.text", "b.md", "*", "./b.md"])
    assert texts(source) == ["a.txt", "b.md", "sub/deep/a.text"]
    assert source.facts() == {
        "source": "files",
        "files": [
            {"name": "a.txt", "bytes": 5, "documents": 1, "nulls": 0},
            {"name": "b.md", "bytes": 4, "documents": 1, "nulls": 0},
            {"name": "sub/deep/a.text", "bytes": 15, "documents": 1, "nulls": 0},
        ],
    }


def test_facts_hold_no_path_of_this_machine(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet")
    assert str(tmp_path) not in json.dumps(Files([str(path)]).facts())


def test_nulls_are_skipped_and_counted(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", values=["x", None, "y", None])
    (tmp_path / "b.jsonl").write_text('{"text": null}\n\n{"text": "z"}\n')
    source = Files([str(tmp_path / "*")])
    assert texts(source) == texts(source) == ["x", "y", "z"]
    assert [file["nulls"] for file in source.facts()["files"]] == [2, 1]


def test_byte_order_mark_and_lone_surrogates(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfHello.")
    (tmp_path / "b.jsonl").write_text('{"text": "a\\ud800b \\ud83d\\ude00"}\n')
    assert texts(Files([str(tmp_path / "*")])) == ["Hello.", "a?b 😀"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.pdf", b"x", r"a\.pdf: extension '\.pdf' is not known: .*\.parquet .*\.gz"),
        ("a.csv.gz", b"x", r"a\.csv\.gz: extension '\.csv' is not known"),
        ("noname", b"x", r"noname: extension '\(none\)' is not known"),
        ("a.parquet.gz", b"x", r"a\.parquet\.gz: Parquet compresses its own columns: decompress"),
        ("a.parquet", b"x" * 100, r"a\.parquet: truncated or damaged \(.*fetch or write the file again"),
        ("a.parquet", b"", r"a\.parquet: truncated or damaged"),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', r"a\.jsonl: line 2 is not JSON \(.*correct or remove"),
        ("a.jsonl", b'{"body": "a", "id": 1}\n', r"a\.jsonl: line 1 has no field 'text' \(it has: body, id\)"),
        ("a.jsonl", b"[1]\n", r"a\.jsonl: line 1 has no field 'text' \(it is not an object\)"),
        ("a.jsonl", b'{"text": 7}\n', r"a\.jsonl: line 1: 'text' is int, not a string"),
        ("a.txt", b"0123\xff6", r"a\.txt: not UTF-8: byte 4 is 0xff: convert"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\xe9"}\n', r"a\.jsonl: not UTF-8: byte 24 is 0xe9"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=message):
        list(Files([str(tmp_path / name)]))


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESSORS if suffix])
def test_truncated_and_damaged_compressed_files(tmp_path: Path, suffix: str) -> None:
    data = COMPRESSORS[suffix](json_lines([f"Text {number * 7919}." for number in range(5000)]))
    path = tmp_path / f"a.jsonl{suffix}"
    for damaged in (data[: len(data) // 2], data[:-3], b"This is not compressed."):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"a\.jsonl\{suffix}: truncated or damaged \(.+\): fetch"):
            list(Files([str(path)]))


def test_truncated_parquet(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet")
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UserError, match=r"a\.parquet: truncated or damaged"):
        list(Files([str(path)]))


def test_parquet_damaged_inside(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", values=[f"Text {number * 7919}." for number in range(5000)])
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = b"\0" * (len(data) // 2 - 4)
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"a\.parquet: truncated or damaged"):
        list(Files([str(path)]))


def test_parquet_without_the_column_lists_those_it_has(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", column="body")
    with pytest.raises(UserError, match=r"a\.parquet: no column 'text' \(it has: id, body\): set corpus column"):
        list(Files([str(path)]))
    with pytest.raises(UserError, match=r"column 'id' is of type int64, not string"):
        list(Files([str(path)], column="id"))


def test_parquet_text_that_is_not_utf8(tmp_path: Path) -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"ab\xff")])
    pq.write_table(pa.table({"text": broken}), tmp_path / "a.parquet")
    with pytest.raises(UserError, match=r"a\.parquet: row 0 is not UTF-8: correct"):
        list(Files([str(tmp_path / "a.parquet")]))


def test_paths_that_match_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no file matches '.*/\*\.parquet'"):
        Files([str(tmp_path / "*.parquet")])
    with pytest.raises(UserError, match=r"it is a folder: write .*/\*\*/\*\.txt"):
        Files([str(tmp_path)])
    for nothing in ([], "a.txt"):
        with pytest.raises(UserError, match="takes a list of at least one file"):
            Files(nothing)


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    source = Files([str(parquet(tmp_path / "a.parquet"))])
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(UserError, match=r"a\.parquet: the file is gone"):
        list(source)


@pytest.mark.parametrize("read", [lambda path: list(Files([str(path)])), lambda path: list(read_texts(path))])
def test_a_parquet_file_that_unfolds_as_no_text_does_is_refused(tmp_path, read, monkeypatch):
    monkeypatch.setattr(texts_module, "UNFOLDED", 1 << 20)
    path = tmp_path / "bomb.parquet"
    for text, refused in (("a" * (1 << 22), True), ("a" * (1 << 19), False)):
        pq.write_table(pa.table({"text": ["short", text]}), path, compression="zstd")
        with pytest.raises(UserError, match=r"bomb\.parquet: .*unfold to 4,.*: leave") if refused else nullcontext():
            read(path)


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESSORS if suffix])
def test_a_compressed_file_that_unfolds_as_no_text_does_is_refused(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(files, "UNFOLDED", 1 << 20)
    monkeypatch.setattr(files, "TIMES", 10)
    path = tmp_path / f"bomb.txt{suffix}"
    for size, refused in ((1 << 22, True), (1 << 19, False)):
        path.write_bytes(COMPRESSORS[suffix](b"a" * size))
        with (
            pytest.raises(UserError, match=r"bomb\.txt.*: its [\d,]+ bytes unfold to more than 1,")
            if refused
            else nullcontext()
        ):
            assert len(texts(Files([str(path)]))[0]) == size


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESSORS if suffix])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_a_compressed_file_of_0_bytes_is_named(tmp_path, name, suffix):
    (tmp_path / f"{name}{suffix}").touch()
    with pytest.raises(UserError, match=rf"{name}{suffix}: 0 bytes, which is no compressed file: fetch or write"):
        list(Files([str(tmp_path / "*")]))


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_a_file_that_does_not_fit_into_memory_is_named(tmp_path, name, monkeypatch):
    def full(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 1 failed") if name == "a.parquet" else MemoryError

    parquet(tmp_path / "a.parquet")
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "a.jsonl").write_bytes(json_lines(TEXTS))
    monkeypatch.setattr(files, "_decode", full)
    monkeypatch.setattr(texts_module, "_check_column", full)
    with pytest.raises(UserError, match=rf"{name}: it does not fit into memory: leave it out, or split it"):
        list(Files([str(tmp_path / name)]))


def test_links_in_a_circle_end_and_give_each_file_once(tmp_path, monkeypatch):
    """glob.glob follows two links to the folder itself along 2^40 paths."""
    for name in ("a.txt", "sub/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    for link, target in {"again": ".", "x": ".", "sub/up": "..", "also.txt": "a.txt", "0": "sub"}.items():
        (tmp_path / link).symlink_to(target)
    (tmp_path.parent / "outside").mkdir()
    (tmp_path.parent / "outside/c.txt").write_text("c")
    (tmp_path / "out").symlink_to("../outside")
    monkeypatch.chdir(tmp_path)
    wanted = ["a.txt", "sub/b.txt", "c"]
    assert sorted(texts(Files(["**/*.txt"]))) == sorted(wanted)
    assert sorted(texts(Files([f"{tmp_path}/**", "x/*.txt", "*.txt"]))) == sorted(wanted)
    assert plan.corpus.matching_files(["**/*.txt"]) == ["a.txt", "out/c.txt", "sub/b.txt"]


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_globs_without_links_are_those_of_python(tmp_path_factory, data):
    top = tmp_path_factory.mktemp("globs")
    names = st.sampled_from(["a", "b.txt", ".c", "[d]", "e*"])
    for parts in data.draw(st.lists(st.lists(names, min_size=1, max_size=3), max_size=8)):
        path = top.joinpath(*parts)
        if not any(parent.is_file() for parent in path.parents) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
    parts = st.sampled_from(["**", "*", "a", "*.txt", "[[]d]", "?*", ""])
    pattern = f"{top}/" + "/".join(data.draw(st.lists(parts, min_size=1, max_size=4)))
    wanted = {os.path.normpath(path) for path in glob.glob(pattern, recursive=True) if Path(path).is_file()}  # noqa: PTH207
    assert set(map(os.path.normpath, matching_files([pattern]))) == wanted


@pytest.mark.parametrize("name", ["a\nb.txt", "a\rb.txt", "a\u2028b.txt", "a\udcffb.txt"])
def test_a_name_with_a_line_break_is_refused_in_one_line(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(UserError, match=r"a.*b\.txt': a line break or another control character in a path") as error:
        Files([str(tmp_path / "*.txt")])
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("read", [lambda path: list(Files([str(path)])), lambda path: list(read_texts(path))])
def test_two_columns_of_one_name(tmp_path, read):
    columns = [pa.array(TEXTS), pa.array(TEXTS)]
    pq.write_table(pa.Table.from_arrays(columns, ["text", "text"]), tmp_path / "a.parquet")
    with pytest.raises(UserError, match=r"a\.parquet: 2 columns are called 'text': rename all but one"):
        read(tmp_path / "a.parquet")
