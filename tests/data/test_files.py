"""Local files as documents, and what is said of files that cannot be read."""

import bz2
import glob
import gzip
import json
import lzma
import os
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import plan
from oversmoothing.data import columnar
from oversmoothing.data.documents import Document
from oversmoothing.data.files import Files, check_files, read_beginning
from oversmoothing.data.globs import matching_files, named
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
    monkeypatch.setattr(columnar, "ROWS", 256)
    many = [f"Text number {number}." for number in range(1000)]
    source = Files([str(parquet(tmp_path / "a.parquet", values=many, row_group_size=300))])
    assert (
        list(source)
        == list(source)
        == [Document(f"a.parquet:{row}", text, "a.parquet") for row, text in enumerate(many)]
    )


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
    files = [*[f"a.jsonl{suffix}"] * 3, f"b.txt{suffix}"]
    assert list(Files([str(tmp_path / "*")])) == list(map(Document, names, [*TEXTS, "Grüße."], files))


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


def test_marks_and_lone_surrogates_are_counted(tmp_path, caplog):
    """A byte-order mark inside a file is left where two files were joined; one at the beginning is no fault."""
    marked = b"\xef\xbb\xbf"
    (tmp_path / "a.txt").write_bytes(marked + b"Hello." + marked + b"Bye.")
    (tmp_path / "b.jsonl").write_text('{"text": "a\\ud800b\\udc00 \\ud83d\\ude00"}\n\ufeff{"text": "\\ufeffHello."}\n')
    parquet(tmp_path / "c.parquet", values=["\ufeffHello.", None, "Good \ufeffbye."])
    (tmp_path / "d.csv").write_bytes(marked + b"text\nHello.\n" + marked + b"text\n" + marked + b"Bye.\n")
    (tmp_path / "e.txt").write_bytes(marked + b"Hello.")
    source = Files([str(tmp_path / "*")])
    for _ in range(2):
        found = [document.text for document in source]
        assert found == ["Hello.Bye.", "a\ufffdb\ufffd 😀", *["Hello."] * 2, "Good bye.", "Hello.", "Bye.", "Hello."]
    counts = [{key: n for key, n in file.items() if key not in ("name", "bytes")} for file in source.facts()["files"]]
    assert counts == [
        {"documents": 1, "nulls": 0, "marks": 1},
        {"documents": 2, "nulls": 0, "surrogates": 2, "marks": 1},
        {"documents": 2, "nulls": 1, "marks": 1},
        {"documents": 2, "nulls": 1, "marks": 1},
        {"documents": 1, "nulls": 0},
    ]
    told = [record.getMessage().partition(": ")[2] for record in caplog.records]
    assert told[1] == "replaced 2 lone surrogates by U+FFFD, removed 1 byte-order marks inside"
    assert len(told) == 4
    assert read_beginning(tmp_path / "b.jsonl") == "a\ufffdb\ufffd 😀\n\nHello."
    caplog.clear()
    assert read_beginning(tmp_path / "b.jsonl", most=1) == "a"
    assert "replaced 2 lone surrogates by U+FFFD" in caplog.text


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
    files = ["array.json"] * 3 + ["lines.json.gz"] * 3
    names = [f"{file}:{number}" for file, number in zip(files, (1, 2, 3) * 2, strict=True)]
    assert list(Files([str(tmp_path / "*")])) == list(map(Document, names, TEXTS * 2, files))


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
        ("none.txt", r"no file matches '.*none\.txt'"),
        ("n" * 300, r"it cannot be read \(File name too long"),
        ("a.txt", "not UTF-8: byte 2 is 0xc3"),
        ("a.parquet", r"no column 'text' \(it has: id, body\): name the column with the text \(corpus.column, or"),
    ):
        with pytest.raises(UserError, match=message):
            read_beginning(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "a.csv",
            b"id,body\n1,x\n",
            r"a\.csv: no column 'text' in its first line \(it has: id, body\): name the column",
        ),
        ("a.csv", b'text,id\n"a\nb",1\nc,d,2\n', r"a\.csv: the record that ends in line 4 has 3 values, and .* 2 col"),
        ("a.tsv", b'text\tid\n"a" b\t1\n', r"a\.tsv: line 2: '\t' expected after '\"': correct its quotation marks"),
        ("a.csv", b'text\n"a\n', r"a\.csv: line 2: unexpected end of data: correct its quotation marks"),
        ("a.csv", b"text,text\na,b\n", r"a\.csv: 2 columns are called 'text'"),
        ("a.csv", b"id\rtext", r"a\.csv: no column 'text' in its first line"),
        ("a.csv", "text\né\n".encode("latin-1"), r"a\.csv: not UTF-8: byte 5 is 0xe9: convert"),
        ("a.parquet.gz", b"x", r"a\.parquet\.gz: Parquet and Arrow compress their own columns: decompress"),
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
    for damaged, message in (
        (data[:-3], r"truncated or damaged \(.+\): fetch"),
        (
            b"This is not compressed.",
            rf"not compressed with \w+: rename it without \{suffix} if it is a text, else fetch",
        ),
        (b"PK\3\4", r"not \w+, as its name says, but a zip archive: unpack it first"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=rf"a\.jsonl\{suffix}: {message}"):
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
        (lambda path: path.write_bytes(b"<!DOCTYPE html>"), "a web page in place of the file: fetch"),
        (lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1"), "a pointer of Git LFS in place"),
    ],
)
def test_parquet_that_cannot_be_read(tmp_path, write, message, monkeypatch):
    monkeypatch.setattr(columnar, "ROWS", 1)
    write(tmp_path / "a.parquet")
    with pytest.raises(UserError, match=rf"a\.parquet: {message}"):
        texts(tmp_path / "a.parquet")


ARROW_WRITERS = {
    "file.arrow": lambda table, path: pa.ipc.new_file(path, table.schema),
    "stream.arrow": lambda table, path: pa.ipc.new_stream(path, table.schema),
    "a.feather": lambda table, path: pa.ipc.new_file(
        path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ),
}


@pytest.mark.parametrize("name", ARROW_WRITERS)
@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.binary()])
def test_arrow(tmp_path, monkeypatch, name, kind):
    monkeypatch.setattr(columnar, "ROWS", 2)
    texts_of = pa.array([*TEXTS, None]).cast(kind)
    table = pa.table({"id": range(4), "body": texts_of})
    with ARROW_WRITERS[name](table, str(tmp_path / name)) as writer:
        writer.write_table(table)
    source = Files([str(tmp_path / name)], "body")
    assert [document.text for document in source] == TEXTS
    assert source.facts()["files"][0]["nulls"] == 1
    with pytest.raises(UserError, match=r"no column 'text' \(it has: id, body\): name the column"):
        texts(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 3])
    with pytest.raises(UserError, match="truncated or damaged"):
        texts(tmp_path / name, column="body")


def test_arrow_with_offsets_beyond_the_text(tmp_path):
    """What follows such offsets without a look reads the memory of others."""
    table = pa.table({"text": ["a", "bc"]})
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    offsets, odd = (np.array([0, middle, 3], np.int32).tobytes() for middle in (1, 1 << 30))
    data = (tmp_path / "a.arrow").read_bytes()
    assert data.count(offsets) == 1
    (tmp_path / "a.arrow").write_bytes(data.replace(offsets, odd))
    with pytest.raises(UserError, match=r"a\.arrow: truncated or damaged"):
        texts(tmp_path / "a.arrow")


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.csv", 'id,text\r\n1,"He said ""a, b"".\nTwo lines."\r\n2,plain\r\n\r\n'),
        ("a.csv", 'id; text\n1;"He said ""a, b"".\nTwo lines."\n2;plain'),
        ("a.tsv", 'text\tid\n"He said ""a, b"".\nTwo lines."\t1\nplain\t2\n'),
    ],
)
def test_values_between_commas_or_tabs(tmp_path, name, written, suffix):
    path = tmp_path / f"{name}{suffix}"
    path.write_bytes(COMPRESSORS.get(suffix, bytes)(written.encode()))
    assert texts(path) == ['He said "a, b".\nTwo lines.', "plain"]
    assert read_beginning(path) == 'He said "a, b".\nTwo lines.\n\nplain'
    assert texts(path, column="id") == ["1", "2"]


def test_a_long_value_and_an_empty_file(tmp_path):
    """Python's limit is 131,072 characters."""
    (tmp_path / "a.csv").write_text(f"text\n{'word ' * 50_000}\n")
    (tmp_path / "b.csv").touch()
    assert texts(tmp_path / "*") == ["word " * 50_000]


@pytest.mark.parametrize("name", ["wiki.test.raw", "wiki.test.tokens", "a.rst", "a.md.gz", "noname", "a.log"])
def test_every_command_reads_a_plain_text_that_is_named(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(COMPRESSORS.get(path.suffix, bytes)(b" = Title = \n"))
    assert texts(path) == [read_beginning(path)] == [" = Title = \n"]
    assert texts(glob.escape(str(path))) == [" = Title = \n"]


KINDS = {
    "a.pdf": (b"%PDF-1.7\n%text", "a PDF: take out its text first"),
    "a.txt": (b"%PDF-1.7\n%text", "a PDF: take out its text first"),
    "a.docx": (b"PK\3\4...", "a document of an office program or an e-book: convert it to plain text"),
    "a.zip": (b"PK\3\4...", "a zip archive: unpack it first"),
    "a.doc": (b"\xd0\xcf\x11\xe0", "a document of an office program: save it as plain text"),
    "a.rtf": (rb"{\rtf1 text}", "RTF: convert it to plain text"),
    "a.html": (b"<p>text</p>", "HTML, whose tags would be read as text: convert .* or rename it to end in .txt"),
    "a.xml.gz": (gzip.compress(b"<p>text</p>"), "XML, whose tags would be read as text"),
    "a.tar.gz": (
        gzip.compress(b"a.txt".ljust(257, b"\0") + b"ustar\0".ljust(255, b"\0")),
        "a tar archive: unpack it first",
    ),
    "b.txt": (gzip.compress(b"text"), "compressed with gzip: rename it to end in .gz"),
    "c.txt": (b"PAR1....PAR1", "Parquet: rename it to end in .parquet"),
    "a.csv": (b"PK\3\4...", "a zip archive: unpack it first"),
    "a.json": (b"\x28\xb5\x2f\xfd", "compressed with zstd: rename it to end in .zst"),
    "a.parquet": (b"ARROW1\0\0", "Arrow: rename it to end in .arrow"),
}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_text_is_named(tmp_path, name):
    data, message = KINDS[name]
    path = tmp_path / name
    path.write_bytes(data)
    for read in (texts, read_beginning, partial(check_files, column="text")):
        with pytest.raises(UserError, match=rf"{name}: {message}"):
            read(path)


def test_files_of_a_glob_have_known_extensions(tmp_path):
    (tmp_path / "noname").write_text("x")
    with pytest.raises(UserError, match=r"noname: extension '\(none\)' is not known: .*\.parquet .*\.gz"):
        texts(tmp_path / "*")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    with pytest.raises(UserError, match=r"a\.pdf: a PDF: take out"):
        texts(tmp_path / "*.pdf")


@pytest.mark.parametrize("of", ["{}", "{}/", "{}/**/*.[tj]*"])
def test_a_folder_gives_its_texts_and_those_below(tmp_path, of):
    """Signs of globs in its name are none; what describes a dataset is no text, and a picture is not read."""
    folder = tmp_path / "my [1] texts"
    files = {"a.txt": "One.", "sub/b.jsonl": '{"text": "Two."}', "c.png": "x", ".d.txt": "x", "sub/_SUCCESS": ""}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    given = of.format(glob.escape(str(folder)))
    assert read_beginning(given if "*" in of else of.format(folder)) == "One.\n\nTwo."
    (folder / "dataset_info.json").write_text("{}")
    if "*" not in of:
        assert texts(given) == ["One.", "Two."]
        assert plan.corpus.user_files({"corpus": {"source": "files", "paths": [given]}}) == [
            str(folder / name) for name in ("a.txt", "sub/b.jsonl")
        ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"messages": [{"role": "user", "content": "x"}]},
            r"has no field 'text' .*'messages' are chats: render each as t",
        ),
        ({"conversations": []}, "'conversations' are chats: render each as text first"),
        (
            {"text": {"0": "a", "1": "b"}, "id": {"0": 1}},
            "'text' is dict, .*: a table by columns, as pandas' `to_json` wr",
        ),
        ({"columns": ["text"], "index": [0], "data": [["a"]]}, "no field 'text' .*: a table by columns, as pandas'"),
        ({"schema": {}, "data": [{"text": "a"}]}, "no field 'text' .*: a table by columns, as pandas'"),
    ],
)
def test_records_of_other_shapes_are_named(tmp_path, record, message):
    for name in ("a.json", "a.jsonl"):
        (tmp_path / name).write_text(json.dumps(record))
        with pytest.raises(UserError, match=rf"{name}: line 1.*{message}"):
            texts(tmp_path / name)


def test_chats_in_a_column_are_named(tmp_path):
    pq.write_table(pa.table({"messages": [[{"role": "user", "content": "x"}]]}), tmp_path / "a.parquet")
    for column in ("text", "messages"):
        with pytest.raises(UserError, match=r"a\.parquet: .*'messages' are chats: render each as text first"):
            texts(tmp_path / "a.parquet", column=column)


def test_what_stands_beside_the_text_is_not_read(tmp_path):
    """Numbers above Python's limit; a struct whose member has the path of the flat column; a part without a text."""
    (tmp_path / "a.jsonl").write_text(f'{{"n": {"7" * 5000}, "text": "One."}}\n')
    struct = pa.array([{"y": 1}])
    pq.write_table(pa.table([struct, pa.array(["Two."])], names=["text", "text.y"]), tmp_path / "b.parquet")
    pq.write_table(pa.table({"text": pa.nulls(2), "s": [{"a": 1}] * 2}), tmp_path / "c.parquet")
    assert texts(tmp_path / "a.jsonl") == ["One."]
    assert texts(tmp_path / "b.parquet", column="text.y") == ["Two."]
    source = Files([str(tmp_path / "c.parquet")])
    assert not list(source)
    assert source.facts()["files"][0]["nulls"] == 2


def test_paths_that_match_nothing(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for paths, message in (
        ([str(tmp_path / "*.parquet")], r"no file matches '.*/\*\.parquet'"),
        (
            [str(tmp_path)],
            r"a folder without a text in it; texts end in one of \.parquet .*\.csv .*\.raw .* also with \.gz",
        ),
        (
            [str(tmp_path / "pipe")],
            "a pipe or a device, and texts are read several times: write it to a file, and name",
        ),
    ):
        with pytest.raises(UserError, match=message):
            Files(paths)


def test_a_file_that_does_not_fit_into_memory_is_named(tmp_path, monkeypatch):
    def full(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 1 failed")

    monkeypatch.setattr(columnar, "_check_column", full)
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
    assume(not Path(named(pattern) or "/none").is_dir())  # whose texts are read
    wanted = filter(os.path.isfile, glob.glob(pattern, recursive=True))  # noqa: PTH207 (a file with a slash is none)
    assert set(map(os.path.normpath, matching_files([pattern]))) == set(map(os.path.normpath, wanted))


@pytest.mark.parametrize("name", ["a\nb.txt", "a\u2028b.txt", "a\udcffb.txt"])
def test_a_name_with_a_line_break_is_refused_in_one_line(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(UserError, match=r"a.*b\.txt': a line break or another control character in a path") as error:
        Files([str(tmp_path / "*.txt")])
    assert len(str(error.value).splitlines()) == 1
