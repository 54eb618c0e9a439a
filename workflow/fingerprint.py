"""A digest of the code behind a rule: its script and all that the script imports from the library.

Snakemake watches a script's time stamp, not the modules it imports. The digest is taken over the syntax
trees without comments and docstrings, so that it changes when behaviour may have changed, and only then.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def fingerprint(script: str, root: Path = SCRIPTS) -> str:
    """Return the SHA-256 over the script and its import closure.

    Parameters
    ----------
    script : str
        File name of a script in `root`.
    root : Path
        Folder of the scripts and of the library they import.

    Raises
    ------
    FileNotFoundError, SyntaxError
        If the script is missing, or one of the modules does not parse.
    """
    digest = hashlib.sha256()
    for path in closure(script, root):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(_code_digest(path))
    return digest.hexdigest()


def closure(script: str, root: Path = SCRIPTS) -> list[Path]:
    """List the script and the modules under `root` that it imports, directly or not, sorted."""
    found: set[Path] = set()
    waiting = [root / script]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(_imports(path, root))
    return sorted(found)


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), filename=str(path))


@cache
def _code_digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    for part in _walk(_parse(path)):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.digest()


def _walk(node):
    """Yield the tree's node types, field names and values, between brackets that keep its shape.

    What is empty or a docstring is left out.

    Neither `ast.dump` nor `ast.unparse` will do: their text differs between versions of Python, and so does the
    set of fields, but new fields are empty in old code.
    """
    yield "("
    yield type(node).__name__
    for name, value in ast.iter_fields(node):
        if value is None or value == []:
            continue
        yield name
        yield "["
        if name == "body" and isinstance(value, list) and _is_docstring(value[0]):
            value = value[1:]
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                yield from _walk(item)
            else:
                yield repr(item)
        yield "]"
    yield ")"


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def _imports(path: Path, root: Path) -> list[Path]:
    """Find the modules under `root` that a file imports, the packages around them included."""
    names: set[str] = set()
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    files = []
    for name in names:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            base = root.joinpath(*parts[:length])
            files += [file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()]
    return files
