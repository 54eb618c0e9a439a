"""The embedded corpus: English prose from the docstrings of the installed packages.

It needs no download. The lock file pins the packages, so every machine reads the same source files. They are
parsed, never imported, and the result depends neither on the number of processes nor on the Python version.
The standard library is excluded because its text changes with the Python version.
"""

import ast
import gc
import importlib.metadata
import importlib.util
import logging
import multiprocessing
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tqdm import tqdm

from oversmoothing.data.documents import Document
from oversmoothing.data.prose import paragraphs
from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

_NAMES = ("numpy", "scipy", "pandas", "torch", "sympy", "networkx", "sklearn", "matplotlib", "transformers")
# Package -> the distribution that gives its version. All are pinned in the lock file.
PACKAGES = {name: "scikit-learn" if name == "sklearn" else name for name in _NAMES}
# Paragraphs are separated by one newline, as in web corpora, so that a blank line can separate documents.
PARAGRAPH_BREAK = "\n"
# Folders without documentation of the package: test suites (missing from some wheels) and vendored packages.
SKIPPED_FOLDERS = {"test", "tests", "testing", "_testing", "_vendor", "externals", "vendored_templates"}
FEW_FILES = 100  # below this number, starting processes takes longer than reading
# Files are parsed with the grammar of the oldest supported Python, so that a newer one does not accept more of them.
OLDEST_PYTHON = (3, 11)

_DOC_NAME = re.compile(r"doc", re.IGNORECASE)  # add_newdoc, add_docstr, _shared_docs, START_DOCSTRING, ...
_DOC_USED = re.compile(rb"doc\w*\s*[(\[=]", re.IGNORECASE)  # such a name, called, subscripted or assigned to
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")  # fields that hold statements, not expressions


class Docstrings:
    """Source of one document per docstring; a repeated paragraph is kept only where it first occurs.

    `roots` are names and folders of packages, by default the installed `PACKAGES`; a `UserError` names a missing one.
    """

    def __init__(self, roots: Sequence[tuple[str, Path]] | None = None, processes: int = 1) -> None:
        self.roots = list(roots) if roots is not None else [(name, find_package(name)) for name in PACKAGES]
        self.processes = processes
        self._documents: list[Document] | None = None  # about 10 MB, and reading them takes half a minute
        self._files = 0

    def __iter__(self) -> Iterator[Document]:
        if self._documents is None:
            self._documents = list(self._harvest())
        return iter(self._documents)

    def facts(self) -> dict[str, Any]:
        """Return packages with their versions, and the numbers of files and documents read."""
        return {
            "source": "docstrings",
            "packages": {name: _version(name) for name, _ in self.roots},
            "files": self._files,
            "documents": len(self._documents or ()),
        }

    def _harvest(self) -> Iterator[Document]:
        files = [(name, root, path) for name, root in self.roots for path in python_files(root)]
        self._files = len(files)
        seen: set[str] = set()
        prose = _map(read_prose, [path for _, _, path in files], self.processes)
        bar = tqdm(prose, total=len(files), desc="docstrings", unit="file", disable=None)
        for (name, root, path), docstrings in zip(files, bar, strict=True):
            for line, texts in docstrings:
                if new := [text for text in dict.fromkeys(texts) if text not in seen]:
                    seen.update(new)
                    place = f"{name}/{path.relative_to(root).as_posix()}:{line}"
                    yield Document(place, PARAGRAPH_BREAK.join(new))


def find_package(name: str) -> Path:
    """Return the folder of an installed package without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        fault = f"package {name!r} is not installed, and `source: docstrings` reads it"
        raise UserError(f"{fault}: install envs/lock.txt, or use `source: files`")
    return Path(next(iter(spec.submodule_search_locations)))


def python_files(root: Path) -> list[Path]:
    """Return the modules below `root`, sorted by path, without those in `SKIPPED_FOLDERS`."""
    files = [path for path in root.rglob("*.py") if not SKIPPED_FOLDERS.intersection(path.relative_to(root).parts)]
    return sorted(files, key=lambda path: path.relative_to(root).as_posix())


def read_prose(path: Path) -> list[tuple[int, list[str]]]:
    """Return (line, paragraphs) for each docstring of a module that contains prose.

    A file that is not valid Python (a template or a fixture) yields an empty list.
    """
    source = path.read_bytes()
    gc.disable()  # a syntax tree has no reference cycles, and the search for them takes a quarter of parsing
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is a warning whose kind depends on the Python version
            tree = ast.parse(source, feature_version=OLDEST_PYTHON)
        found = sorted(docstrings(tree, source).items())
        return [(line, texts) for (line, _), text in found if (texts := paragraphs(text))]
    except (SyntaxError, ValueError, RecursionError):
        return []
    finally:
        gc.enable()


def docstrings(tree: ast.Module, source: bytes) -> dict[tuple[int, int], str]:
    """Return the docstrings in the syntax tree of a module's source by (line, column).

    They include string expressions (such as those below an attribute) and strings passed to a function or assigned
    to a variable with "doc" in its name (``add_newdoc``, ``add_docstr``).
    """
    nodes = ast.walk(tree) if _DOC_USED.search(source) else _statements(tree)
    return {
        (value.lineno, value.col_offset): value.value
        for node in nodes
        for value in _documenting(node)
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the statements of a module; to walk all expressions too would take longer than everything else."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in _BODIES:
            waiting.extend(getattr(node, name, ()))


def _documenting(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.Expr):
        return (node.value,)
    if isinstance(node, ast.Call) and _DOC_NAME.search(_name(node.func)):
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return (inner for value in values for inner in _strings(value))
    if isinstance(node, ast.Assign) and any(_DOC_NAME.search(_name(target)) for target in node.targets):
        return _strings(node.value)
    return ()


def _strings(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the constants below `node`, except in f-strings, where their positions changed in Python 3.12."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant):
            yield node
        elif not isinstance(node, ast.JoinedStr):
            waiting.extend(ast.iter_child_nodes(node))


def _name(node: ast.AST) -> str:
    """Return the last name of ``a``, ``x.a`` or ``a[key]``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _map(function: Any, items: list[Path], processes: int) -> Iterator[Any]:
    if processes <= 1 or len(items) < FEW_FILES:
        yield from map(function, items)
        return
    # Forked workers do not run the calling script again, to which Snakemake has added a preamble.
    method = "fork" if sys.platform == "linux" else "spawn"
    with ProcessPoolExecutor(processes, multiprocessing.get_context(method)) as pool:
        yield from pool.map(function, items, chunksize=16)


def _version(package: str) -> str:
    """Return the version without its build tag, since torch's CPU and CUDA builds have the same docstrings."""
    try:
        return importlib.metadata.version(PACKAGES.get(package, package)).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
