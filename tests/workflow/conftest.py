"""Projects to run the real workflow in."""

import shutil

import pytest
from study import Study, copy_project


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """A project whose main table has been built once; tests leave it as they found it."""
    study = copy_project(tmp_path_factory.mktemp("study"))
    study.snakemake()
    return study


@pytest.fixture
def copy(study, tmp_path):
    """A built project that a test may spoil."""
    shutil.copytree(study.folder, tmp_path / "copy")
    return Study(tmp_path / "copy")
