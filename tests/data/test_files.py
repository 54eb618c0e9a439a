"""Local files as documents, and what is said of files that cannot be read."""

import bz2
import glob
import gzip
import json
import lzma
import os
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plan
from oversmoothing.data import formats
from oversmoothing.data.documents import Document
from oversmoothing.data.files import Files, read_beginning
from oversmoothing.data.globs import matching_files
from oversmoothing.data.sources import open_source
from oversmoothing.jobs import UserError

TEXTS = ["First text.", "Zweiter Text, für alle.", "Third.\n\nWith two paragraphs."]


def arrow_compress(codec, data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESSORS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": partial(arrow_compress, "zstd"),
    ".lz4": partial(arrow_compress, "lz4"),
}


def texts(*patterns, **options):
    return [document.text for document in Files(list(map(str, patterns)), **options)]


def parquet(path, column="text", values=TEXTS, **options):
    pq.write_table(pa.table({"id": range(len(values)), column: values}), path, **options)
    return path


def json_lines(values):
    return "".join(json.dumps({"text": value}) + "\n" for value in values).encode()


def test_parquet_by_row_groups_and_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "ROWS", 256)
    many = [f"Text number {number}." for number in range(1000)]
    source = Files([str(parquet(tmp_path / "a.parquet", values=many, row_group_size=300))])
    assert list(source) == list(source) == [Document(f"a.parquet:{row}", text) for row, text in enumerate(many)]


def test_another_column(tmp_path):
    corpus = {"source": "files", "paths": [str(parquet(tmp_path / "a.parquet", column="body"))], "column": "body"}
    assert [document.text for document in open_source(corpus)] == TEXTS
    (tmp_path / "a.jsonl").write_text('{"body": "x"}\n')
    assert texts(tmp_path / "a.jsonl", column="body") == ["x"]


@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
def test_every_compression(tmp_path, suffix):
    compress = COMPRESSORS.get(suffix, bytes)
    (tmp_path / f"a.jsonl{suffix}").write_bytes(compress(json_lines(TEXTS)))
    (tmp_path / f"b.txt{suffix}").write_bytes(compress("Grüße.".encode()))
    names = [*(f"a.jsonl{suffix}:{line}" for line in (1, 2, 3)), f"b.txt{suffix}"]
    assert list(Files([str(tmp_path / "*")])) == list(map(Document, names, [*TEXTS, "Grüße."]))


def test_globs_are_sorted_and_files_read_once(tmp_path, monkeypatch):
    for name in ("b.md", "sub/deep/a.text", "a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    source = Files(["**/*.text", "b.md", "*", "./b.md"])
    names = ["a.txt", "b.md", "sub/deep/a.text"]
    assert [document.text for document in source] == names
    listed = [{"name": name, "bytes": len(name), "documents": 1, "nulls": 0} for name in names]
    assert source.facts() == {"source": "files", "files": listed}  # and no path of this machine


def test_nulls_are_skipped_and_counted(tmp_path):
    parquet(tmp_path / "a.parquet", values=["x", None, "y", None])
    (tmp_path / "b.jsonl").write_text('{"text": null}\n\n{"text": "z"}\n')
    source = Files([str(tmp_path / "*")])
    for _ in range(2):
        assert [document.text for document in source] == ["x", "y", "z"]
    assert [file["nulls"] for file in source.facts()["files"]] == [2, 1]


def test_byte_order_mark_and_lone_surrogates(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfHello.")
    (tmp_path / "b.jsonl").write_text('{"text": "a\\ud800b \\ud83d\\ude00"}\n{"text": "\\ufeffHello."}\n')
    parquet(tmp_path / "c.parquet", values=["\ufeffHello.", None, "Good \ufeffbye."])
    assert texts(tmp_path / "*") == ["Hello.", "a?b 😀", "Hello.", "Hello.", "Good \ufeffbye."]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_refused_by_name(tmp_path, encoding):
    for name in ("a.txt", "a.jsonl", "a.json"):
        (tmp_path / name).write_text('{"text": "Hello."}\n', encoding=encoding)
        with pytest.raises(UserError, match=rf"{name}: UTF-16 or UTF-32, not UTF-8: convert the file to UTF-8"):
            texts(tmp_path / name)


def test_json_is_lines_or_an_array(tmp_path):
    """C4 has lines under the name .json.gz."""
    (tmp_path / "array.json").write_text(json.dumps([{"text": text} for text in TEXTS], indent=1))
    (tmp_path / "lines.json.gz").write_bytes(gzip.compress(json_lines(TEXTS)))
    names = [f"{name}:{number}" for name in ("array.json", "lines.json.gz") for number in (1, 2, 3)]
    assert list(Files([str(tmp_path / "*")])) == list(map(Document, names, TEXTS * 2))


BYTES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string_view()]


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string()), *BYTES])
def test_parquet_columns_of_every_type_of_text(tmp_path, kind):
    values = pa.array([text.encode() for text in TEXTS] if kind in BYTES else TEXTS)
    pq.write_table(pa.table({"text": values.cast(kind)}), tmp_path / "a.parquet")
    assert texts(tmp_path / "a.parquet") == TEXTS


def test_a_folder_of_parts_is_read_as_a_file(tmp_path):
    """Spark writes such folders, with marks in them; other folders need a glob, and other files with a _ are text."""
    spark = tmp_path / "x.parquet"
    spark.mkdir()
    for number, text in enumerate(TEXTS):
        parquet(spark / f"part-{number}.parquet", values=[text])
    for mark in ("_SUCCESS", "_metadata", ".part-0.parquet.crc"):
        (spark / mark).touch()
    (tmp_path / "_notes.txt").write_text("Notes.")
    assert texts(spark) == texts(f"{spark}/") == texts(f"{spark}/*") == texts(f"{tmp_path}/**/*.parquet") == TEXTS
    assert texts(tmp_path / "*") == ["Notes.", *TEXTS]
    assert read_beginning(spark) == "\n\n".join(TEXTS)
    with pytest.raises(UserError, match="a folder, and not one of Parquet or JSON files"):
        read_beginning(tmp_path)


@pytest.mark.parametrize("name", ["a", "a.txt.xz", "a.json.gz", "a.parquet"])
def test_the_beginning_of_any_file_is_that_of_its_texts(tmp_path, name):
    path = tmp_path / name
    values = ["\ufeff" + TEXTS[0], " ", TEXTS[1]]
    if ".parquet" in name:
        parquet(path, values=values)
    else:
        data = json_lines(values) if ".json" in name else f"\ufeff{TEXTS[0]}\n\n{TEXTS[1]}".encode()
        path.write_bytes(COMPRESSORS.get(path.suffix, bytes)(data))
    joined = f"{TEXTS[0]}\n\n{TEXTS[1]}"
    assert read_beginning(path) == joined
    for most in range(1, len(joined.encode()) + 2):
        marked = most + (3 if ".json" not in name and ".parquet" not in name else 0)
        assert read_beginning(path, most=marked) == joined.encode()[:most].decode(errors="ignore")


def test_the_beginning_names_what_is_wrong(tmp_path):
    parquet(tmp_path / "a.parquet", column="body")
    (tmp_path / "a.txt").write_bytes(b"ab\xc3")
    assert read_beginning(tmp_path / "a.parquet", "body", 5) == TEXTS[0][:5]
    for name, message in (
        ("none.txt", r"it cannot be read \(No such file"),
        ("n" * 300, r"it cannot be read \(File name too long"),
        ("a.txt", "not UTF-8: byte 2 is 0xc3"),
        ("a.parquet", r"no column 'text' \(it has: id, body\): name the column with the text \(corpus.column, or"),
    ):
        with pytest.raises(UserError, match=message):
            read_beginning(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.pdf", b"x", r"a\.pdf: extension '\.pdf' is not known: .*\.parquet .*\.gz"),
        ("noname", b"x", r"noname: extension '\(none\)' is not known"),
        ("a.parquet.gz", b"x", r"a\.parquet\.gz: Parquet compresses its own columns: decompress"),
        ("a.parquet", b"x" * 100, r"a\.parquet: truncated or damaged \(.*fetch or write the file again"),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', r"a\.jsonl: line 2 is not JSON \(.*correct or remove"),
        ("a.jsonl", b'{"body": "a", "id": 1}\n', r"a\.jsonl: line 1 has no field 'text' \(it has: body, id\)"),
        ("a.jsonl", b"[1]\n", r"a\.jsonl: line 1 has no field 'text' \(it is not an object\)"),
        ("a.jsonl", b'{"text": 7}\n', r"a\.jsonl: line 1: 'text' is int, not a string"),
        (
            "a.json",
            b'{\n"text": "a"}',
            r"a\.json: line 1 is not JSON .*: a file of this name has one object a line, or an",
        ),
        ("a.json", b'["a"]', r"a\.json: element 1 has no field 'text' \(it is not an object\)"),
        ("a.json.gz", gzip.compress(b'[{"text": ', mtime=0), r"a\.json\.gz: it is not JSON"),
        # A frame with a window of 2^31 bytes: magic number, descriptor, exponent, and an empty last block.
        (
            "a.txt.zst",
            bytes.fromhex("28b52ffd 00 a8 010000"),
            r"a\.txt\.zst: compressed with a zstd window above 128 MiB",
        ),
        ("a.txt", b"0123\xff6", r"a\.txt: not UTF-8: byte 4 is 0xff: convert"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\xe9"}\n', r"a\.jsonl: not UTF-8: byte 24 is 0xe9"),
        ("a.txt.gz", b"", r"a\.txt\.gz: 0 bytes, which is no compressed file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=message):
        texts(tmp_path / name)


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_truncated_and_damaged_compressed_files(tmp_path, suffix):
    data = COMPRESSORS[suffix](json_lines([f"Text {number * 7919}." for number in range(5000)]))
    path = tmp_path / f"a.jsonl{suffix}"
    for damaged in (data[:-3], b"This is not compressed."):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"a\.jsonl\{suffix}: truncated or damaged \(.+\): fetch"):
            texts(path)


def damaged_inside(path):
    data = bytearray(parquet(path, values=[f"Text {number * 7919}." for number in range(5000)]).read_bytes())
    data[4 : len(data) // 2] = b"\0" * (len(data) // 2 - 4)
    path.write_bytes(data)


def no_utf8(path):
    borders, data = pa.py_buffer(np.array([0, 4, 7], np.int32)), pa.py_buffer(b"fineab\xff")
    pq.write_table(pa.table({"text": pa.Array.from_buffers(pa.string(), 2, [None, borders, data])}), path)


def two_columns(path):
    pq.write_table(pa.Table.from_arrays([pa.array(TEXTS)] * 2, ["text", "text"]), path)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (damaged_inside, "truncated or damaged"),
        (no_utf8, "row 1 is not UTF-8: correct"),
        (two_columns, "2 columns are called 'text': rename all but one"),
        (partial(parquet, column="body"), r"no column 'text' \(it has: id, body\): name the column with the text"),
        (lambda path: pq.write_table(pa.table({"text": [1]}), path), "column 'text' is of type int64, not string"),
    ],
)
def test_parquet_that_cannot_be_read(tmp_path, write, message, monkeypatch):
    monkeypatch.setattr(formats, "ROWS", 1)
    write(tmp_path / "a.parquet")
    with pytest.raises(UserError, match=rf"a\.parquet: {message}"):
        texts(tmp_path / "a.parquet")


def test_paths_that_match_nothing(tmp_path):
    for paths, message in (
        ([str(tmp_path / "*.parquet")], r"no file matches '.*/\*\.parquet'"),
        ([str(tmp_path)], r"it is a folder: write .*/\*\*/\*\.txt"),
    ):
        with pytest.raises(UserError, match=message):
            Files(paths)


def test_a_file_that_does_not_fit_into_memory_is_named(tmp_path, monkeypatch):
    def full(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 1 failed")

    monkeypatch.setattr(formats, "_check_column", full)
    with pytest.raises(UserError, match=r"a\.parquet: it does not fit into memory: leave it out, or split it"):
        texts(parquet(tmp_path / "a.parquet"))


def test_links_in_a_circle_end_and_give_each_file_once(tmp_path, monkeypatch):
    """glob.glob follows two links to the folder itself along 2^40 paths."""
    for name in ("a.txt", "sub/b.txt", "../outside/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    for link, target in {"again": ".", "x": ".", "sub/up": "..", "also.txt": "a.txt", "0": "sub"}.items():
        (tmp_path / link).symlink_to(target)
    (tmp_path / "out").symlink_to("../outside")
    monkeypatch.chdir(tmp_path)
    wanted = ["../outside/c.txt", "a.txt", "sub/b.txt"]
    assert sorted(texts("**/*.txt")) == sorted(texts(f"{tmp_path}/**", "x/*.txt", "*.txt")) == wanted
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
    wanted = filter(os.path.isfile, glob.glob(pattern, recursive=True))  # noqa: PTH207 (a file with a slash is none)
    assert set(map(os.path.normpath, matching_files([pattern]))) == set(map(os.path.normpath, wanted))


@pytest.mark.parametrize("name", ["a\nb.txt", "a\u2028b.txt", "a\udcffb.txt"])
def test_a_name_with_a_line_break_is_refused_in_one_line(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(UserError, match=r"a.*b\.txt': a line break or another control character in a path") as error:
        Files([str(tmp_path / "*.txt")])
    assert len(str(error.value).splitlines()) == 1
