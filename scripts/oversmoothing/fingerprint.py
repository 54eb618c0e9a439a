"""A digest of the code behind a rule: its script, the library modules that it imports, and the numerical packages.

Snakemake tracks a script's modification time, but not the modules it imports. The digest is taken over the syntax trees
without comments, docstrings and user messages, over the templates beside modules that fill them, and over the stories
of modules that read them. An ``__init__.py`` that only hands on names of modules is passed over: who imports a name of
it depends on the module of that name alone. Of the packages that this code imports, those in `COUNTED` are included,
each with the first two parts of its locked version.
"""

import ast
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
FOLDERS = "OVERSMOOTHING_CODE"  # in the environment, which jobs inherit: more folders that code is imported from
BESIDE = (".html", ".css", ".js")  # of a module's own name: the template of a page that it writes
STORIES = "oversmoothing.tables.story"  # a module that imports it depends on the words of stories
LOCK = SCRIPTS.parent / "envs" / "lock.txt"
# By the content of a file of code: the digest of its code, which is "" if it only hands names on, and what it imports.
# A plan keeps what it has read in a file. The next plan, and each job, take that in and parse what is new alone: to
# parse all is a quarter of a plan's time, and a tenth of a short job's.
Read = dict[str, tuple[str, list[str]]]
KEPT = Path(".snakemake/read_code")
KNOWN: Read = {}
READ: Read = {}
COUNTED = {  # modules, and the packages of the lock behind them
    "english_words": ("english-words",),
    "mauve": ("mauve-text", "faiss-cpu", "scikit-learn"),
    "numba": ("numba",),
    "numpy": ("numpy",),
    "scipy": ("scipy",),
    "tokenizers": ("tokenizers",),
    "torch": ("torch",),
    "transformers": ("transformers",),
}


def fingerprint(script: str, *roots: Path) -> str:
    """Return the SHA-256 over a script, its import closure and the versions of the packages it computes with.

    `script` is a path relative to one of the `roots`, which are those of `folders` if none are given.
    """
    digest, files = hashlib.sha256(), closure(script, *roots)
    for path in files:
        digest.update(relative(path, *roots).encode())
        digest.update(bytes.fromhex(_read(path)[0]))
    digest.update(json.dumps(_versions(files)).encode())
    return digest.hexdigest()


def folders() -> tuple[Path, ...]:
    """Return the folders that code is imported from, in order: that of the library, and those in the environment."""
    return _folders(os.environ.get(FOLDERS, ""))


@cache
def _folders(more: str) -> tuple[Path, ...]:
    return tuple(dict.fromkeys([SCRIPTS, *(Path(folder).resolve() for folder in more.split(os.pathsep) if folder)]))


def relative(path: Path, *roots: Path) -> str:
    """Return the path of a file of code relative to the one of the roots that it lies in; a `ValueError` outside."""
    roots = roots or folders()
    for root in roots:
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    raise ValueError(f"{path} lies in none of {', '.join(map(str, roots))}")


def closure(script: str, *roots: Path) -> list[Path]:
    """Return the script and the modules under the roots that it imports, directly or indirectly, sorted."""
    roots = roots or folders()
    found: set[Path] = set()
    waiting = [next((root / script for root in roots if (root / script).is_file()), roots[0] / script)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(_imports(path, roots))
    return sorted(found)


def stories_of(module: Path) -> list[Path]:
    """Return the stories that a module reads: ``story.md`` of its folder or else, in the library, those of `tables`."""
    if (own := module.with_name("story.md")).is_file():
        return [own]
    return sorted(path for folder in module.parents for path in folder.glob("tables/*.story.md"))


def versions(script: str, *roots: Path) -> dict[str, str]:
    """Return the versions, such as 2.13, of the packages in `COUNTED` imported by the script or its import closure."""
    return _versions(closure(script, *roots))


def _versions(files: Iterable[Path]) -> dict[str, str]:
    imported = {name.partition(".")[0] for path in files for name in _read(path)[1]}
    return {package: _locked()[package] for name in sorted(imported & COUNTED.keys()) for package in COUNTED[name]}


def installed(packages: Iterable[str]) -> dict[str, str]:
    """Return the first two parts of the installed version of each package, read without importing it."""
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = _two_parts(version(package))
    return found


def unlike_lock() -> dict[str, tuple[str, str]]:
    """Return the installed and the locked version of each package in `COUNTED` that is installed in another version."""
    packages = sorted(package for packages in COUNTED.values() for package in packages)
    there, locked = installed(packages), _locked()
    return {package: (there[package], locked[package]) for package in there if there[package] != locked[package]}


@cache
def _locked() -> dict[str, str]:
    """Return the first two parts of each package's version in the lock."""
    pins = (line.partition("#")[0].strip().split("==") for line in LOCK.read_text(encoding="utf-8").splitlines())
    return {pin[0]: _two_parts(pin[1]) for pin in pins if len(pin) == 2}


def _two_parts(number: str) -> str:
    """Return 2.13 of 2.13.0+cpu, whose local part says how the package was built."""
    return ".".join(number.partition("+")[0].split(".")[:2])


@cache
def _read(path: Path) -> tuple[str, list[str]]:
    """Return the digest of a file's code, with templates and stories, and the names that it imports; or of a story.

    The digest of an `__init__` that only hands names on is "".
    """
    source = path.read_bytes()
    templates = [file.read_text(encoding="utf-8") for file in map(path.with_suffix, BESIDE) if file.is_file()]
    content = _digest("\0".join([*templates, ""]).encode() + source)
    READ[content] = KNOWN.get(content) or _parse(path, source, templates)
    digest, names = READ[content]
    if not digest:
        return digest, names
    told = any(name == STORIES or name.startswith(f"{STORIES}.") for name in names)
    stories = [story.read_text(encoding="utf-8") for story in stories_of(path)] if told else []
    return _digest("\0".join([digest, *stories]).encode()), names


def _parse(path: Path, source: bytes, templates: list[str]) -> tuple[str, list[str]]:
    if path.suffix == ".md":
        return _digest(source), []
    tree = ast.parse(source, filename=str(path))
    if path.name == "__init__.py" and _hands_on(tree):
        return "", sorted(_names(tree))
    parts: list[str] = []
    _walk(tree, parts.append)
    return _digest("\0".join([*parts, *templates, ""]).encode()), sorted(_names(tree))


def stamped(read: Read) -> bytes:
    """Return the contents of `KEPT`: a stamp, which fits this version of this module and no damaged file, and JSON.

    It is no seal of `store`, because that imports `jobs`, which imports this module.
    """
    body = json.dumps(read).encode()
    return _stamp(body) + body


def kept() -> Read:
    """Return what a plan has kept in `KEPT`; nothing if there is no such file, or its stamp does not fit."""
    with suppress(OSError):
        contents = KEPT.read_bytes()
        body = contents[len(_stamp(b"")) :]
        if contents.startswith(_stamp(body)):
            return {content: (digest, names) for content, (digest, names) in json.loads(body).items()}
    return {}


def _stamp(body: bytes) -> bytes:
    return _digest(Path(__file__).read_bytes() + body).encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _walk(node: ast.AST, add: Callable[[str], None], message: bool = False) -> None:
    """Add the tree's node types, field names and values, between brackets that preserve its shape.

    Empty fields, docstrings and the literal text of user messages (`message`) are omitted. The output of `ast.dump`
    differs between versions of Python, and so do fields, but those that a newer version adds are empty in old code.
    """
    add("(")
    add(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == []:
            continue
        add(name)
        add("[")
        if name == "body" and isinstance(value, list) and _is_docstring(value[0]):
            value = value[1:]
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                _walk(item, add, _is_message(node) or (message and isinstance(node, ast.JoinedStr)))
            elif not (message and isinstance(node, ast.Constant) and isinstance(item, str)):
                add(repr(item))
        add("]")
    add(")")


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_message(node: ast.AST) -> bool:
    """Return whether a node is a call ``UserError(...)`` or ``logger.info(...)``, at any level."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "logger"
    return isinstance(function, ast.Name) and function.id == "UserError"


def _hands_on(tree: ast.Module) -> bool:
    """Return whether code does no more than import names from modules, under their own names, and list them."""
    imported = False
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            imported = True
            if node.level or any(alias.name == "*" or alias.asname not in (None, alias.name) for alias in node.names):
                return False
        elif not (_is_docstring(node) or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")):
            return False
    return imported


@cache
def _imports(path: Path, roots: tuple[Path, ...]) -> list[Path]:
    """Return the modules under the roots that a file imports, including their parent packages."""
    return [file for name in _read(path)[1] for root in roots for file in _files(name, root)]


def _names(tree: ast.Module) -> set[str]:
    """Return the modules that code imports, and the names that it imports from modules, as ``module.name``."""
    names: set[str] = set()
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and their nested statements, but no expressions, and nothing that only type checkers read."""
    for node in body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                yield from _statements(inner)


@cache
def _files(name: str, root: Path) -> list[Path]:
    """Return the files under `root` on which code depends that imports a dotted name."""
    parts = name.split(".")
    if not (root / parts[0]).is_dir() and not (root / f"{parts[0]}.py").is_file():
        return []
    found = []
    for length in range(1, len(parts) + 1):
        base = root.joinpath(*parts[:length])
        for file in filter(Path.is_file, (base.with_suffix(".py"), base / "__init__.py")):
            found += [file] if _read(file)[0] else _handed_on(file, parts[length:], root)
    return found


def _handed_on(package: Path, inner: list[str], root: Path) -> list[Path]:
    """Return the files of a name that an `__init__` hands on, or of all its names if no single one is imported."""
    if inner and any(package.with_name(name).exists() for name in (inner[0], f"{inner[0]}.py")):
        return []  # a module of the package
    names = _read(package)[1]
    imported = [name for name in names if inner and name.rpartition(".")[2] == inner[0]]
    return [file for name in imported or names for file in _files(name, root)]
