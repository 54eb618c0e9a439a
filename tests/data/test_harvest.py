"""The embedded corpus: from packages to documents."""

from pathlib import Path

import pytest

from oversmoothing.data import harvest
from oversmoothing.data.documents import Document
from oversmoothing.data.harvest import Docstrings, find_package
from oversmoothing.data.sources import open_source
from oversmoothing.jobs import UserError

MODULE = '''"""This is the documentation of the module."""

x = 1
"""This string documents the value above it."""


def f():
    """Return nothing at all, and take nothing.

    This paragraph stands in two of the functions.
    """
    y = "This string is data and no documentation of anything."
    return "This one is data too, and it is returned."


def g():
    r"""This paragraph stands in two of the functions.

    This one has an invalid escape \\d in a raw string, so it goes."""


def h():
    "This one has an invalid escape \\d in it, which is a warning."


def repeat():
    """This paragraph stands in two of the functions."""


add_newdoc("f", """This text was added by a call to a function.""" + common)
def k(x=doc("This is in a default of a function."), y=base(doc="A keyword of another call is not documentation.")): pass
_shared_docs["f"] = """This text was put into a table of shared texts."""
f_doc = f"""This is in an f-string and it is not read, as its place moves. {x}"""
'''


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "site" / "pack"
    for name, text in {
        "b.py": '"""This module comes second in the order."""\n',
        "a.py": MODULE,
        "sub/c.py": 'class C:\n    try:\n        """This string is in a folder below."""\n    finally:\n        pass\n',
        "tests/test_a.py": '"""This is a test and it is not read."""\n',
        "broken.py": '"""This file does not parse as Python."""\ndef (\n',
        "data.txt": "This is no module at all.",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_documents_of_a_package(package, tmp_path):
    source = Docstrings([("pack", package)])
    documents = {
        "a.py:1": "This is the documentation of the module.",
        "a.py:4": "This string documents the value above it.",
        "a.py:8": "Return nothing at all, and take nothing.\nThis paragraph stands in two of the functions.",
        "a.py:30": "This text was added by a call to a function.",
        "a.py:31": "This is in a default of a function.",
        "a.py:32": "This text was put into a table of shared texts.",
        "b.py:1": "This module comes second in the order.",
        "sub/c.py:3": "This string is in a folder below.",
    }
    assert list(source) == list(source) == [Document(f"pack/{place}", text) for place, text in documents.items()]
    assert source.facts() == {"source": "docstrings", "packages": {"pack": "unknown"}, "files": 4, "documents": 8}
    moved = package.rename(tmp_path / "elsewhere")  # where a package stands does not matter
    assert list(Docstrings([("pack", moved)])) == list(source)


def test_a_real_package_gives_the_same_from_any_number_of_processes(monkeypatch):
    monkeypatch.setattr(harvest, "FEW_FILES", 1)
    root = find_package("networkx") / "algorithms" / "bipartite"
    alone = list(Docstrings([("bipartite", root)]))
    assert list(Docstrings([("bipartite", root)], processes=2)) == alone
    text = "\n".join(document.text for document in alone)
    assert len(text) > 10_000
    assert "bipartite graph" in text
    for mark in (">>>", "``", ":func:", "----", "\t", "  ", "http"):
        assert mark not in text


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(harvest, "PACKAGES", {"no_such_package": "no-such-package"})
    with pytest.raises(UserError, match=r"'no_such_package' is not installed.*envs/lock\.txt"):
        open_source({"source": "docstrings"})


def test_versions_have_no_build_tag(monkeypatch):
    monkeypatch.setattr(harvest.importlib.metadata, "version", lambda name: f"{name} 2.13.0+cpu")
    assert Docstrings([("sklearn", Path())]).facts()["packages"] == {"sklearn": "scikit-learn 2.13.0"}
