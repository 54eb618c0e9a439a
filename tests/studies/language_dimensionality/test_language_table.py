"""From a text to the table and the figure that people read, and what the study reads: texts that are checked."""

import numpy as np
import pytest
from corpus_jobs import assert_a_flipped_bit_is_noticed
from default_config import default
from imported import imported

from checks.config import check
from checks.paths import check_paths, check_text
from oversmoothing.data.files import Files
from oversmoothing.tables.formats import latex, markdown
from oversmoothing.tables.record import chosen
from plan import ConfigError
from studies.language_dimensionality import measure, tokenizer
from studies.language_dimensionality.measure import SIZES, measure_texts, read_beginning
from studies.language_dimensionality.table import dimensionality_page, dimensionality_table


def test_errors_stand_at_the_family_s_ranks_and_at_a_thousand_beside_those_of_the_shuffled_text():
    """Of a large vocabulary only the largest singular values are known, so there is no effective rank."""
    tokens = np.random.default_rng(0).choice(40, 2000).astype(np.uint8)
    measured = measure_texts({"byte": (tokens, 256), "byte pair": (tokens, 5000)}, [1, 2], 8, 0)
    assert measured[1].schema == SIZES
    spectra, sizes = (part.to_pandas().assign(text="prose") for part in measured)
    table = dimensionality_table(sizes, spectra, [288, 4])
    errors, of_pairs = (
        chosen(table, token=token, context=2, measure="w_error").set_index("dimensions").value
        for token in ("byte", "byte pair")
    )
    line = spectra[(spectra.token == "byte") & (spectra.context == 2) & (spectra.d == 4)].iloc[0]
    assert errors.to_dict() == {4: line.w_error, 288: 0, 1000: 0}
    assert 0 <= of_pairs[4] <= 1
    assert np.isnan(of_pairs[1000])
    assert "effective_rank" not in set(table.measure[table.token == "byte pair"])
    page = dimensionality_page(table, "Title.")
    text = markdown(page)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "| prose" in line]
    contexts = chosen(table, token="byte", context=2, measure="contexts").value.iloc[0]
    assert [[line[2], line[4], line[6]] for line in lines[2:4]] == [
        ["as counted", f"{contexts:,.0f}", f"{line.w_error:.3f}"],
        ["shuffled", f"{contexts:,.0f}", f"{line.shuffled:.3f}"],
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


def corpora(*paths, name="a"):
    return default(language={"corpora": [{"name": name, "paths": list(paths)}]})


@pytest.mark.parametrize("main", [measure.main, tokenizer.main])
def test_the_training_split_is_read_only_as_its_manifest_has_it(tmp_path, main):
    assert_a_flipped_bit_is_noticed(tmp_path, main, "train")


def test_a_text_has_a_name_of_its_own():
    with pytest.raises(ConfigError, match=r"language\.corpora: train is listed twice, or is a split of the corpus"):
        check(corpora("x.txt", name="train"))


def test_missing_text_stops_what_reads_it_alone():
    config = corpora("no.txt")
    check_paths(config)
    with pytest.raises(ConfigError, match=r"language\.corpora\.0\.paths: no file matches 'no\.txt'"):
        check_text(config)


def test_what_it_computes_with():
    """A longer list means that more edits measure all texts again."""
    computed_with = {"data", "fingerprint", "jobs", "numerics/singular_values", "printable", "standard_error", "store"}
    assert imported("studies/language_dimensionality/measure.py") == computed_with
