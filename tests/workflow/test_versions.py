"""A package that is installed in another version than the lock's is named at the start of every command."""

import pytest
from study import copy_project


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that puts a package's metadata before those that are installed."""

    def first_found(package, version):
        folder = tmp_path / "packages" / f"{package}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        monkeypatch.setenv("PYTHONPATH", str(folder.parent))

    return first_found


@pytest.mark.parametrize(
    ("version", "line"), [("9.9.9", "torch 9.9 is installed and 2.13 locked: results may differ"), ("2.13.7+cu128", "")]
)
def test_another_version_is_named_once(install, tmp_path, version, line):
    install("torch", version)
    output = copy_project(tmp_path / "project").snakemake(options=["-n"])
    assert output.count(" is installed and ") == bool(line)
    assert line in output
