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
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from oversmoothing.data.documents import Document
from oversmoothing.data.prose import paragraphs
from oversmoothing.jobs import UserError

logger = logging.getLogger(__name__)

# Package -> the distribution that gives its version. All are pinned in the lock file.
PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "torch": "torch",
    "sympy": "sympy",
    "networkx": "networkx",
    "sklearn": "scikit-learn",
    "matplotlib": "matplotlib",
    "transformers": "transformers",
}
# Paragraphs are separated by one newline, as in web corpora, so that a blank line can separate documents.
PARAGRAPH_BREAK = "\n"
# Folders without documentation of the package: test suites (missing from some wheels) and vendored packages.
SKIPPED_FOLDERS = {"test", "tests", "testing", "_testing", "_vendor", "externals", "vendored_templates"}
FEW_FILES = 100  # below this number, starting processes takes longer than reading
# Files are parsed with the grammar of the oldest supported Python, so that a newer one does not accept more of them.
OLDEST_PYTHON = (3, 11)

_DOC_NAME = re.compile(r"doc", re.IGNORECASE)  # add_newdoc, add_docstr, _shared_docs, START_DOCSTRING, ...
_DOC_USED = re.compile(rb"doc\w*\s*[(\[=]", re.IGNORECASE)  # such a name, called, subscripted or assigned to
_LINE_END = re.compile(rb"\r\n?|\n")
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
        """Packages with their versions, and the numbers of files and documents read."""
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
    with warnings.catch_warnings(), _without_collector():
        warnings.simplefilter("ignore")  # an invalid escape is a warning whose kind depends on the Python version
        try:
            tree = ast.parse(source, feature_version=OLDEST_PYTHON)
        except (SyntaxError, ValueError, RecursionError):
            return []
        prose = [(line, paragraphs(text)) for (line, _), text in sorted(docstrings(tree, source).items())]
    return [(line, texts) for line, texts in prose if texts]


@contextmanager
def _without_collector() -> Iterator[None]:
    """Switch off Python's search for reference cycles: a syntax tree has none, and it takes a quarter of parsing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def docstrings(tree: ast.Module, source: bytes) -> dict[tuple[int, int], str]:
    """Return the docstrings in the syntax tree of a module's source by (line, column).

    They include string expressions (such as those below an attribute) and strings passed to a function or assigned
    to a variable with "doc" in its name (``add_newdoc``, ``add_docstr``).
    """
    return {
        (value.lineno, value.col_offset): value.value
        for node in _nodes(tree, _lines_with_doc(source))
        for value in _documenting(node)
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def _lines_with_doc(source: bytes) -> list[int]:
    """Return, in order, the lines with a name that has "doc" in it and may be called or assigned to."""
    lines, line, end = [], 1, 0
    for match in _DOC_USED.finditer(source):
        line += len(_LINE_END.findall(source, end, match.start()))
        end = match.start()
        lines.append(line)
    return lines


def _nodes(tree: ast.Module, named: list[int]) -> Iterator[ast.AST]:
    """Yield all statements, and the expressions of those that have one of the lines `named` of their own.

    Searching all expressions would take longer than everything else.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in _BODIES:
            waiting.extend(getattr(node, name, ()))
        first, last = _own_lines(node)
        if bisect_left(named, first) < bisect_right(named, last):
            for name, value in ast.iter_fields(node):
                if name not in _BODIES:
                    for part in value if isinstance(value, list) else [value]:
                        yield from ast.walk(part) if isinstance(part, ast.AST) else ()


def _own_lines(statement: Any) -> tuple[int, int]:
    """Return the first and last line of a statement, of a compound one up to the statements in it."""
    if not hasattr(statement, "lineno"):  # a module, a case
        return 0, sys.maxsize
    first = min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
    return first, statement.body[0].lineno if getattr(statement, "body", None) else statement.end_lineno


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
