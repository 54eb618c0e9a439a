"""Which modules of `forced` the measures depend on: each more is more that computes again after an edit."""

from test_public_surface import HEADS, modules_of


def test_the_measures_depend_on_what_they_import_alone():
    assert modules_of("studies/along_training/measure.py", "forced") == sorted(HEADS.split())
