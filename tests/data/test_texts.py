"""Texts straight from Arrow's buffers: the same bytes as one Python object per row gives."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oversmoothing.data.texts import read_texts

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
MULTIPLIER = 6364136223846793005


def write(path, values, kind=None, row_group=3):
    pq.write_table(pa.table({"id": range(len(values)), "text": pa.array(values, kind or pa.string())}), path, row_group)
    return path


def strings(*batches):
    return [
        texts.data[start:end].tobytes().decode()
        for texts in batches
        for start, end in zip(texts.borders[:-1], texts.borders[1:], strict=True)
    ]


def plain_hash(data):
    """Hash as `Texts.hashes` says, in Python's own integers."""
    value = len(data)
    for start in range(0, len(data), 8):
        value = (value ^ int.from_bytes(data[start : start + 8], "little")) * MULTIPLIER % 2**64
        value ^= value >> 32
    return value


@settings(max_examples=40)
@given(st.lists(TEXT | st.none(), min_size=1, max_size=12), st.data())
def test_any_texts(tmp_path_factory, values, data):
    path = write(tmp_path_factory.mktemp("texts") / "a.parquet", values)
    plain = [value or "" for value in values]
    batches = list(read_texts(path))
    assert strings(*batches) == plain
    assert np.concatenate([texts.lengths() for texts in batches]).tolist() == [len(text.encode()) for text in plain]
    hashes = np.concatenate([texts.hashes() for texts in batches])
    assert hashes.tolist() == [plain_hash(text.encode()) for text in plain]
    for texts in batches:
        batch = strings(texts)
        keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch))))
        for separator in ("", "\n\n"):
            wanted = separator.join(text for text, kept in zip(batch, keep, strict=True) if kept)
            assert texts.join(keep, separator.encode()).tobytes().decode() == wanted


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_type_of_text(tmp_path, kind):
    path = write(tmp_path / "a.parquet", ["one", "zwölf", None, "one"], kind)
    assert strings(*read_texts(path)) == ["one", "zwölf", "", "one"]
