"""Atomic writes, Parquet encodings and the errors of damaged files."""

import json
import os
import random
import re
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors import SafetensorError

from oversmoothing.data.files import Files
from oversmoothing.jobs import FAULTS, UserError
from oversmoothing.store.atomic import MACHINE, atomic_path
from oversmoothing.store.parquet import (
    open_writer,
    read_groups,
    read_table,
    vector_array,
    vector_type,
    vectors,
    write_table,
)
from oversmoothing.store.provenance import digest, provenance, sha256
from oversmoothing.store.sealed_json import read_sealed, write_sealed
from oversmoothing.store.sums import check_folder, read_text, write_folder_sums, write_text

SCHEMA = pa.schema([("window", pa.int32()), ("logits", vector_type(8))])


def batch(window, rows=3):
    values = np.random.default_rng(window).normal(size=(rows, 8))
    return pa.record_batch([pa.array([window] * rows, pa.int32()), vector_array(values)], schema=SCHEMA)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "logits.parquet"
    with open_writer(path, SCHEMA, {"model": "bn4-s1"}) as writer:
        for window in range(4):
            writer.write_batch(batch(window))
    return path


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "value.json"
    write_sealed(path, {"a": 1})
    with pytest.raises(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert read_sealed(path) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["value.json"]


def test_what_a_killed_writer_left_is_cleared(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    (tmp_path / f".value.json.{dead.pid}-{MACHINE}.part").write_text("half")
    (tmp_path / f".value.json.{os.getppid()}-0000abcd.part").write_text("half, on another machine")
    (tmp_path / ".other.json.123.part").write_text("not ours")
    write_sealed(tmp_path / "value.json", {"name": "é"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.json.123.part", "value.json"]
    assert '"name": "é"'.encode() in (tmp_path / "value.json").read_bytes()


def test_what_a_second_writer_leaves_that_is_killed_meanwhile_is_cleared(tmp_path):
    """As after a kill of Snakemake alone: its job goes on beside that of the next run."""
    with atomic_path(tmp_path / "value.json") as temporary:
        temporary.write_text("{}")
        with subprocess.Popen([sys.executable, "-c", ""]) as dead:
            (tmp_path / f".value.json.{dead.pid}-{MACHINE}.part").write_text("half")
        (tmp_path / ".value.json.1-0000abcd.part").write_text("of another machine, where it may still be written")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".value.json.1-0000abcd.part", "value.json"]


def test_what_another_process_is_writing_stays(tmp_path):
    part = tmp_path / f".value.json.{os.getppid()}-{MACHINE}.part"
    part.write_text("half")
    write_sealed(tmp_path / "value.json", {})
    assert part.exists()


def words(number):
    return SafetensorError(f"Error while serializing: I/O error: {os.strerror(number)} (os error {number})")


@pytest.mark.parametrize("number", FAULTS)
def test_a_fault_of_the_system_is_named_and_the_old_file_stays(tmp_path, monkeypatch, number):
    """Wherever it occurs in a write, and in whatever words a library has for it; a read never advises deletion."""
    path, table = tmp_path / "value.json", tmp_path / "table.parquet"
    write_sealed(path, {"a": 1})
    write_table(table, pa.table({"a": [1]}), {})
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    message = rf"{{}}: {re.escape('; '.join(FAULTS[number]))}$"

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    for owner, name in (
        *((Path, name) for name in ("mkdir", "glob", "write_text", "open", "replace")),
        *((os, "fsync"), (pq, "ParquetWriter")),
    ):
        of = table if owner is pq else path
        with monkeypatch.context() as patch, pytest.raises(UserError, match=message.format(of.name)):
            patch.setattr(owner, name, fail)
            write_sealed(path, {"a": 2}) if of is path else write_table(table, pa.table({"a": [2]}), {})
    for error in (OSError(number, os.strerror(number)), words(number)):
        with pytest.raises(UserError, match=message.format(r"value\.json")), atomic_path(path):
            raise error
    for owner, name, read, of in (
        (Path, "open", read_sealed, path),
        *((owner, name, read_table, table) for owner, name in ((Path, "open"), (pq, "ParquetFile"))),
        (Path, "open", sha256, path),
    ):
        with monkeypatch.context() as patch, pytest.raises(UserError, match=message.format(of.name)):
            patch.setattr(owner, name, fail)
            read(of)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_no_json_holds_what_json_cannot(tmp_path):
    with pytest.raises(UserError, match=r"value\.json: NaN or infinity, which JSON cannot hold; check"):
        write_sealed(tmp_path / "value.json", {"a": (0, {"b": np.float64("-inf")})})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [{"rate": 0.003, "z": "é"}, {"a": {"rate": 0.003}}])
def test_a_flipped_bit_in_json_is_named_or_changes_nothing(tmp_path, value):
    path = tmp_path / "value.json"
    write_sealed(path, value)
    content = path.read_bytes()
    assert read_sealed(path) == value
    named = content.index(b"oversmoothing-crc32:")
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        if named <= bit // 8 < named + 20:  # what is left has no seal, but the same value, or is no JSON
            with suppress(ValueError):
                assert read_sealed(path) == value
            continue
        with pytest.raises((UserError, ValueError)):
            read_sealed(path)


def test_json_that_a_user_changed_can_be_accepted(tmp_path):
    path = tmp_path / "value.json"
    write_sealed(path, {"rate": 0.003})
    path.write_text(path.read_text().replace("0.003", "8.003"))
    message = r'value\.json: changed .*; if you changed it yourself, write null as its "seal"'
    with pytest.raises(UserError, match=message):
        read_sealed(path)
    path.write_text('{"rate": 8.003, "seal": null}')
    assert read_sealed(path) == {"rate": 8.003}


def test_a_text_has_its_checksum_beside(tmp_path):
    path, beside = tmp_path / "table.md", tmp_path / ".table.md.sha256"
    write_text(path, "| .344 |\n")
    assert read_text(path) == "| .344 |\n"
    assert beside.read_text().endswith("  table.md\n")
    path.write_text("| .044 |\n")
    with pytest.raises(UserError, match=r"table\.md: does not match its checksum in \.table\.md\.sha256"):
        read_text(path)
    beside.unlink()
    path.write_bytes(b"\xff")
    with pytest.raises(UserError, match=r"table\.md: not UTF-8"):
        read_text(path)


def test_vectors_are_byte_stream_split_and_the_file_says_who_made_it(file):
    metadata = pq.read_metadata(file)
    assert metadata.num_row_groups == 4
    column = metadata.row_group(0).column(1)
    assert column.path_in_schema == "logits.list.element"
    assert "BYTE_STREAM_SPLIT" in column.encodings
    assert not column.has_dictionary_page
    assert column.compression == "ZSTD"
    assert metadata.metadata[b"model"] == b"bn4-s1"


def test_groups_stream_and_vectors_are_views(file):
    groups = list(read_groups(file, ["window", "logits"]))
    assert [group["window"][0].as_py() for group in groups] == [0, 1, 2, 3]
    logits = vectors(groups[2]["logits"])
    assert logits.shape == (3, 8)
    assert not logits.flags.owndata
    np.testing.assert_array_equal(logits, vectors(batch(2)["logits"]))
    np.testing.assert_array_equal(logits[1:], vectors(batch(2)["logits"].slice(1, 2)))


def test_a_missing_column_or_file_is_named(file, tmp_path):
    with pytest.raises(UserError, match=r"logits\.parquet: no column 'target' \(it has: window, logits\)"):
        read_table(file, ["target"])
    with pytest.raises(UserError, match=r"nothing\.parquet: no such file"):
        read_table(tmp_path / "nothing.parquet")


@pytest.mark.parametrize("keep", [0, 10, 0.5, -8])
def test_truncated_file_is_named(file, keep):
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * keep) if isinstance(keep, float) else keep])
    message = r"logits\.parquet: (not a complete|changed or damaged) .* delete it and run again"
    with pytest.raises(UserError, match=message):
        list(read_groups(file, ["window", "logits"]))


def test_round_trip_of_a_table(tmp_path):
    table = pa.table({"window": [1, 2], "name": ["a", "b"]})
    write_table(tmp_path / "t.parquet", table, provenance({"b": 1, "a": 2}, model="m"))
    back = read_table(tmp_path / "t.parquet")
    assert back.to_pydict() == table.to_pydict()
    metadata = back.schema.metadata
    assert json.loads(metadata[b"settings"]) == {"a": 2, "b": 1}
    assert metadata[b"settings_sha256"].decode() == digest({"a": 2, "b": 1})
    assert "pyarrow" in json.loads(metadata[b"packages"])
    write_table(tmp_path / "again", table, provenance({"a": 2, "b": 1}, model="m"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "t.parquet").read_bytes()


def test_a_flipped_bit_is_named(file):
    """Wherever it is: in a page, in its header, which no page checksum covers, or in the footer.

    A file whose seal no longer has its name passes, unsealed: the flip is there then, and all the rest is whole.
    """
    content = file.read_bytes()
    named = content.rindex(b"oversmoothing-crc32:")
    names_of_the_seal = range(8 * named, 8 * (named + 20))
    whole = list(read_groups(file, ["window", "logits"]))
    end = len(content)
    footer = end - 8 - int.from_bytes(content[-8:-4], "little")
    bits = [*range(8 * 4, 8 * 24), *random.Random(0).sample(range(8 * footer), 100)]
    bits += [*random.Random(1).sample(range(8 * footer, 8 * end), 100), *range(8 * (end - 8), 8 * end)]
    for bit in [*bits, 8 * named]:
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        if bit in names_of_the_seal:
            assert list(read_groups(file, ["window", "logits"])) == whole
            continue
        with pytest.raises(UserError, match=r"logits\.parquet: .*; delete it and run again"):
            list(read_groups(file, ["window", "logits"]))


def test_the_seal_is_that_of_the_whole_file_and_stands_in_one_place(file):
    """A reader of another make can check it too: CRC-32 of the file with zeros in its place.

    A schema's metadata stand in a Parquet file twice, of which only one can be filled in.
    """
    content = file.read_bytes()
    value = pq.read_metadata(file).metadata[b"seal"].removeprefix(b"oversmoothing-crc32:")
    assert content.count(value) == 1
    assert zlib.crc32(content.replace(value, b"00000000")) == int(value, 16)
    assert pq.ParquetFile(file).schema_arrow.metadata == {b"model": b"bn4-s1"}


def test_a_file_of_another_program_needs_no_seal(tmp_path):
    pq.write_table(pa.table({"window": [1]}), tmp_path / "theirs.parquet")
    assert read_table(tmp_path / "theirs.parquet")["window"].to_pylist() == [1]


def test_a_folder_is_the_one_that_was_written(tmp_path):
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    check_folder(tmp_path)
    write_folder_sums(tmp_path)
    check_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{ }")
    with pytest.raises(UserError, match=r"tokenizer\.json: does not match its checksum in SHA256SUMS"):
        check_folder(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(UserError, match=r"tokenizer\.json: no such file"):
        check_folder(tmp_path)


def test_a_flipped_bit_in_a_column_name_of_a_file_without_a_seal_is_named(tmp_path):
    """Arrow raises a UnicodeDecodeError for it."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"prompt": [1]}), path, store_schema=False)
    content, named = path.read_bytes(), 0
    for place in re.finditer(b"prompt", content):
        damaged = bytearray(content)
        damaged[place.start()] ^= 0x80
        path.write_bytes(damaged)
        for read in (read_table, lambda path: list(Files([str(path)], "text"))):
            try:
                read(path)
            except UserError as error:
                named += bool(
                    re.search(r"a\.parquet: (not a complete Parquet file|truncated or damaged) \(", str(error))
                )
    assert named
