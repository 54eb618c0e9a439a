"""What the study of a language reads: texts that are checked, and code of its own alone."""

import pytest
from corpus_jobs import assert_a_flipped_bit_is_noticed
from default_config import default
from imported import imported

from checks.config import check
from checks.paths import check_paths, check_text, missing_text
from plan import ConfigError
from studies.language_dimensionality import measure, tokenizer


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
    assert "language.corpora.0.paths: no file matches 'no.txt'" in missing_text(config)[0]
    with pytest.raises(ConfigError, match=r"language\.corpora\.0\.paths: no file matches 'no\.txt'"):
        check_text(config)


def test_odd_names_of_text_are_refused(tmp_path):
    (tmp_path / "a{x}.txt").touch()
    with pytest.raises(ConfigError, match=r"language\.corpora\.0\.paths: .*means a wildcard to Snakemake; rename it"):
        check_paths(corpora(f"{tmp_path}/*.txt"))


def test_what_it_computes_with():
    """A longer list means that more edits measure all texts again."""
    computed_with = {"data", "fingerprint", "jobs", "numerics/singular_values", "printable", "store"}
    assert imported("studies/language_dimensionality/measure.py") == computed_with
