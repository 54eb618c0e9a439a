"""Texts straight from Arrow's buffers: the same bytes as one Python object per row gives."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.data import texts as module
from oversmoothing.data.texts import Texts, read_texts
from oversmoothing.jobs import UserError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
MULTIPLIER = 6364136223846793005


def write(path: Path, values: list[str | None], kind: pa.DataType | None = None, rows: int = 3) -> Path:
    pq.write_table(pa.table({"id": range(len(values)), "text": pa.array(values, kind or pa.string())}), path, rows)
    return path


def rows(texts: Texts) -> list[str]:
    pairs = zip(texts.borders[:-1], texts.borders[1:], strict=True)
    return [texts.data[start:end].tobytes().decode() for start, end in pairs]


def plain_hash(data: bytes) -> int:
    """Hash as `Texts.hashes` says, in Python's own integers."""
    value = len(data)
    for start in range(0, len(data), 8):
        value = (value ^ int.from_bytes(data[start : start + 8], "little")) * MULTIPLIER % 2**64
        value ^= value >> 32
    return value


@settings(max_examples=40)
@given(st.lists(TEXT | st.none(), min_size=1, max_size=12), st.data())
def test_any_texts(tmp_path_factory: pytest.TempPathFactory, values: list[str | None], data: st.DataObject) -> None:
    path = write(tmp_path_factory.mktemp("texts") / "a.parquet", values)
    plain = [value or "" for value in values]
    batches = list(read_texts(path))
    assert [text for texts in batches for text in rows(texts)] == plain
    assert [int(length) for texts in batches for length in texts.lengths()] == [len(text.encode()) for text in plain]
    hashes = [int(value) for texts in batches for value in texts.hashes()]
    assert hashes == [plain_hash(text.encode()) for text in plain]
    for texts in batches:
        own = rows(texts)
        keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(own), max_size=len(own))))
        for separator in ("", "\n\n"):
            wanted = separator.join(text for text, kept in zip(own, keep, strict=True) if kept)
            assert texts.join(keep, separator.encode()).tobytes().decode() == wanted


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_type_of_text(tmp_path: Path, kind: pa.DataType) -> None:
    path = write(tmp_path / "a.parquet", ["one", "zwölf", None, "one"], kind)
    assert [text for texts in read_texts(path) for text in rows(texts)] == ["one", "zwölf", "", "one"]


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", [str(number) for number in range(100)], rows=40)
    monkeypatch.setattr(module, "ROWS", 16)
    batches = list(read_texts(path))
    assert max(len(texts.lengths()) for texts in batches) <= 16
    assert [text for texts in batches for text in rows(texts)] == [str(number) for number in range(100)]


def test_nothing_is_copied_where_all_is_kept(tmp_path: Path) -> None:
    texts = next(read_texts(write(tmp_path / "a.parquet", ["one", "two"])))
    assert np.shares_memory(texts.join(np.array([True, True]), b""), texts.data)


def test_a_row_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    data = pa.py_buffer(b"fineab\xff")
    broken = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 4, 7], np.int32)), data])
    pq.write_table(pa.table({"text": broken}), tmp_path / "a.parquet")
    with pytest.raises(UserError, match=r"a\.parquet: row 1 is not UTF-8"):
        list(read_texts(tmp_path / "a.parquet"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", ["one"] * 1000)
    with pytest.raises(UserError, match=r"no column 'body' \(it has: id, text\)"):
        list(read_texts(path, "body"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UserError, match=r"a\.parquet: truncated or damaged"):
        list(read_texts(path))
