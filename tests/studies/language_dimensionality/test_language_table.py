"""From a text to the table and the figure that people read."""

import numpy as np
import pytest

from oversmoothing.data.files import Files
from oversmoothing.tables.formats import latex, markdown
from studies.language_dimensionality.measure import SIZES, measure_texts, read_beginning
from studies.language_dimensionality.table import by_dimensions, dimensionality_page, dimensionality_table


@pytest.fixture
def tables():
    tokens = np.random.default_rng(0).choice(40, 2000).astype(np.uint8)
    spectra, sizes = measure_texts({"byte": (tokens, 256), "byte pair": (tokens, 5000)}, [1, 2], 8, 0)
    assert sizes.schema == SIZES
    return spectra.to_pandas().assign(text="prose"), sizes.to_pandas().assign(text="prose")


def test_errors_stand_at_the_family_s_ranks_and_at_a_thousand(tables):
    """Of a large vocabulary only the largest singular values are known, so there is no effective rank."""
    spectra, sizes = tables
    table = by_dimensions(dimensionality_table(sizes, spectra, [288, 4]))
    assert list(table.dimensions[:3]) == [4, 288, 1000]
    errors = table[(table.token == "byte") & (table.context == 2)].set_index("dimensions")
    line = spectra[(spectra.token == "byte") & (spectra.context == 2)].set_index("d")
    columns = ["w_error", "shuffled"]
    assert errors.loc[4, columns].tolist() == line.loc[4, columns].tolist()
    assert (errors.loc[[288, 1000], columns] == 0).all(axis=None)
    pairs = table[table.token == "byte pair"]
    assert pairs.effective_rank.isna().all()
    assert pairs.w_error[pairs.dimensions == 1000].isna().all()
    assert pairs.w_error[pairs.dimensions == 4].between(0, 1).all()


def test_the_page_sets_beside_each_text_its_shuffled_self(tables):
    spectra, sizes = tables
    table = dimensionality_table(sizes, spectra, [4])
    page = dimensionality_page(table, "Title.")
    text = markdown(page)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "| prose" in line]
    row = next(by_dimensions(table).query("token == 'byte' and context == 1 and dimensions == 4").itertuples())
    assert [[line[2], line[6], line[4]] for line in lines[:2]] == [
        ["as counted", f"{row.w_error:.3f}", f"{row.contexts:,.0f}"],
        ["shuffled", f"{row.shuffled:.3f}", f"{row.contexts:,.0f}"],
    ]
    assert "Bytes cannot test this" in text
    assert "Of byte pairs, of which there are 5,000" in text
    assert "nan" not in text + latex(page)


def test_documents_are_read_up_to_a_number_of_bytes(tmp_path):
    for i, text in enumerate(["Zürich", "two", "three"]):
        (tmp_path / f"{i}.txt").write_text(text, encoding="utf-8")
    files = Files([str(tmp_path / "*.txt")])
    assert read_beginning(files, "\n", 1000).tobytes() == "Zürich\ntwo\nthree".encode()
    assert read_beginning(files, "\n", 9).tobytes() == "Zürich\ntwo".encode()[:9]
