"""The embedded corpus: from packages to documents."""

import ast
import importlib.util
import sys
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
_shared_docs["f"] = """This text was put into a table of shared texts."""
f_doc = f"""This is in an f-string and it is not read, as its place moves. {x}"""
'''


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "site" / "pack"
    for name, text in {
        "b.py": '"""This module comes second in the order."""\n',
        "a.py": MODULE,
        "sub/c.py": '"""This module is in a folder below."""\n',
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
        "a.py:31": "This text was put into a table of shared texts.",
        "b.py:1": "This module comes second in the order.",
        "sub/c.py:1": "This module is in a folder below.",
    }
    assert list(source) == list(source) == [Document(f"pack/{place}", text) for place, text in documents.items()]
    assert source.facts() == {"source": "docstrings", "packages": {"pack": "unknown"}, "files": 4, "documents": 7}
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


def test_packages_are_found_without_importing_them_and_none_is_of_the_standard_library():
    before = set(sys.modules)
    for name in filter(importlib.util.find_spec, harvest.PACKAGES):
        assert (find_package(name) / "__init__.py").is_file()
    assert not {"sympy", "networkx"} & (set(sys.modules) - before)
    assert not set(harvest.PACKAGES) & set(sys.stdlib_module_names)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(harvest, "PACKAGES", {"no_such_package": "no-such-package"})
    with pytest.raises(UserError, match=r"'no_such_package' is not installed.*envs/lock\.txt"):
        open_source({"source": "docstrings"})


def test_versions_have_no_build_tag(monkeypatch):
    monkeypatch.setattr(harvest.importlib.metadata, "version", lambda name: f"{name} 2.13.0+cpu")
    assert Docstrings([("sklearn", Path())]).facts()["packages"] == {"sklearn": "scikit-learn 2.13.0"}


HIDDEN = '''
import functools

@functools.wraps(add_newdoc(
    "f", "In a decorator of several lines."))
def f(a, b=_DOCS["b", "In a default."] if add_doc("In a condition.") else 1,
      c=lambda: doc("In a lambda.")):
    """Of the function."""
    x = 1; self.__doc__ = "Assigned after a semicolon."
    return setdoc(
        f"In an f-string {f('{}')} it does not count.",
        ["In a list."],
    )

class A(base(doc="A keyword does not count.")):
    kind = add_docstr  ("After a space."); "A bare string."
    try:
        pass
    except with_doc("In a handler."):
        "In its body."
    finally:
        first = _shared_docs["key"] = "Assigned twice."
    match value:
        case 1 if doc("In a guard."):
            "In a case."
    if True:
        async def g():
            async with doc("In a with.") as h: "On one line."
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_strings_are_found_as_by_a_search_of_all_expressions(newline):
    sources = [path.read_bytes() for path in harvest.python_files(harvest.find_package("networkx"))[::7]]
    sources.append(HIDDEN.replace("\n", newline).encode())
    for source in sources:
        tree = ast.parse(source)
        expected = {
            (value.lineno, value.col_offset): value.value
            for node in ast.walk(tree)
            for value in harvest._documenting(node)
            if isinstance(value, ast.Constant) and isinstance(value.value, str)
        }
        assert harvest.docstrings(tree, source) == expected
    assert len(expected) == 16
