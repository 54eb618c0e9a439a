"""What others may import is what docs/api.md says, works as its examples show, and is in no rule's fingerprint."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from oversmoothing.fingerprint import ROOTS, SCRIPTS, WORKFLOW, closure, relative
from schemas.describe import PACKAGES, ROOT, surface

NAMES = [package.__name__.rpartition(".")[2] for package in PACKAGES]
SURFACE = surface()
FUNCTIONS = [name for name, thing in SURFACE.items() if inspect.isfunction(thing)]
EARLIER = (  # paths that pages, notebooks and benchmarks of versions since 0.2 have named
    "argmaxability.classes.argmaxable argmaxability.classes.reachable bat.basis.prepare bat.reject.DELTA "
    "bat.reject.reject_set forced.divergence.divergence forced.ellipsoid.project_on_ellipsoid forced.head.prepare "
    "forced.projection.project forced.projection.project_on"
)


def sections(text):
    """Return the parts of a docstring by their headings, and what stands above them as ``""``."""
    first, *parts = re.split(r"^(\w+)\n-+$", inspect.cleandoc(text), flags=re.MULTILINE)
    return {"": first.strip(), **dict(zip(parts[::2], parts[1::2], strict=True))}


def entries(body):
    """Return the names that a section describes."""
    return [name for names in re.findall(r"^(\S.*?)(?: : .*)?$", body, re.MULTILINE) for name in names.split(", ")]


def test_the_page_has_what_can_be_imported_and_no_more():
    page = (ROOT / "docs/api.md").read_text()
    headings = re.findall(r"^### `(.+)`$", page, flags=re.MULTILINE)
    assert headings == list(SURFACE)
    assert {"bat.reject_set", "bat.bracket", "forced.project", "forced.divide", "argmaxability.argmaxable"} <= set(
        headings
    )
    assert 8 <= len(FUNCTIONS) <= 14


@pytest.mark.parametrize("name", SURFACE)
def test_a_docstring_says_all_that_a_reader_needs(name):
    thing = SURFACE[name]
    written = sections(thing.__doc__)
    if name not in FUNCTIONS:
        fields = entries(written["Attributes"])
        inherited = [field for base in thing.__mro__ for field in getattr(base, "__annotations__", {})]
        assert sorted(fields) == sorted(inherited)
        return
    assert entries(written["Parameters"]) == list(inspect.signature(thing).parameters)
    assert written[""].startswith("Return ") or inspect.signature(thing).return_annotation is None
    assert ("Returns" in written) == written[""].startswith("Return ")
    assert "Raises" in written
    assert f"{name}(" in written["Examples"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_gives_what_the_page_shows(name):
    (example,) = doctest.DocTestFinder(recurse=False).find(SURFACE[name], name, globs={})
    said = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert (result.failed, len(said)) == (0, 0), "".join(said)
    assert result.attempted >= 4


W, P = np.array([[1.0], [2.0], [3.0]]), np.array([[0.45, 0.1, 0.45], [0.3, 0.4, 0.3]])
PREPARED = {  # functions of a head that is prepared, and what follows it
    "bat.reject_set": (P,),
    "bat.bracket": (P,),
    "forced.certify": (P, SURFACE["forced.project"](W, P)),
    "forced.divide": (np.array([[0.5], [0.1]]) @ W.T, P),
}


def test_what_takes_a_prepared_head_takes_the_matrix_too():
    first = {name: next(iter(inspect.signature(SURFACE[name]).parameters.values())) for name in FUNCTIONS}
    assert {name for name, head in first.items() if re.search("Basis|Head", str(head.annotation))} == set(PREPARED)
    for name, more in PREPARED.items():
        prepare = SURFACE[f"{name.partition('.')[0]}.prepare"]
        found, expected = (fields(SURFACE[name](head, *more)) for head in (W, prepare(W)))
        assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True)), name
        with pytest.raises(ValueError, match="matrix"):
            SURFACE[name](W[:, 0], *more)


def fields(result):
    """Return the arrays in what a function returns."""
    if isinstance(result, np.ndarray):
        return [result]
    parts = result if isinstance(result, tuple) else vars(result).values()
    return [array for part in parts if part is not None for array in fields(part)]


def test_paths_that_were_documented_still_work():
    for path in EARLIER.split():
        module, _, name = path.rpartition(".")
        assert hasattr(import_module(f"oversmoothing.{module}"), name), path


@pytest.mark.parametrize("name", NAMES)
def test_a_package_offers_each_name_and_says_which_it_lacks(name):
    package = import_module(f"oversmoothing.{name}")
    public = import_module(f"oversmoothing.{name}.public")
    assert dir(package) == sorted(public.__all__)
    # Importing a module binds its name in the package, in place of a function's.
    modules = {path.stem for path in (SCRIPTS / "oversmoothing" / name).iterdir()}
    assert modules.isdisjoint(public.__all__)
    with pytest.raises(AttributeError, match=rf"oversmoothing\.{name} has no attribute tbta"):
        _ = package.tbta
    with pytest.raises(ImportError, match="cannot import name 'np'"):
        exec(f"from oversmoothing.{name} import np")
    everything = {}
    exec(f"from oversmoothing.{name} import *", everything)
    assert everything.keys() - {"__builtins__"} == set(public.__all__)


def defined(name):
    """Return the names that a package's own `__init__` gives values."""
    body = ast.parse((SCRIPTS / "oversmoothing" / name / "__init__.py").read_text()).body
    return {ast.unparse(target) for node in body if isinstance(node, ast.Assign) for target in node.targets}


def steps():
    """Return the paths of all code that Snakemake runs, as fingerprints have them."""
    by_name = SCRIPTS.glob("oversmoothing/measures/entries/*.py")
    return sorted(relative(path) for path in [*SCRIPTS.glob("*.py"), *by_name, *WORKFLOW.glob("studies/*/*.py")])


def test_the_surface_is_in_no_fingerprint():
    there = {relative(path) for step in steps() for path in closure(step)}
    assert {f"oversmoothing/{name}/__init__.py" for name in NAMES} <= there
    assert there.isdisjoint({f"oversmoothing/{name}/public.py" for name in NAMES})


def test_no_code_of_the_workflow_takes_a_name_that_fingerprints_do_not_follow():
    """From a package of the surface it imports only what its `__init__` defines: fingerprints follow modules."""
    for path in (path for root in ROOTS for path in root.rglob("*.py") if path.name != "describe.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not hidden(node), f"{path}, line {node.lineno}: import from the module that defines the name"


def hidden(node):
    """Whether a node is an import of one of the packages, or of a name that its `__init__` does not define."""
    if isinstance(node, ast.Import):
        return any(alias.name in {f"oversmoothing.{name}" for name in NAMES} for alias in node.names)
    if not isinstance(node, ast.ImportFrom):
        return False
    taken = {alias.name for alias in node.names}
    if node.module == "oversmoothing":
        return not taken.isdisjoint(NAMES)
    package = (node.module or "").removeprefix("oversmoothing.")
    return package in NAMES and not taken <= defined(package)


def test_an_import_that_fingerprints_do_not_follow_is_found():
    for line in (
        "from oversmoothing import bat",
        "import oversmoothing.bat",
        "from oversmoothing.bat import reject_set",
    ):
        assert hidden(ast.parse(line).body[0])
    for line in ("from oversmoothing.bat import DELTA", "from oversmoothing.bat.reject import reject_set"):
        assert not hidden(ast.parse(line).body[0])


def test_imports_load_no_array_and_use_no_torch_nor_pandas_and_each_module_can_be_first():
    """A name that is looked up in a package loads `public`, which must not happen while its own modules load."""
    modules = [
        relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in NAMES
        for path in (SCRIPTS / "oversmoothing" / name).rglob("*.py")
    ]
    program = f"""
import importlib, sys
packages = [importlib.import_module("oversmoothing." + name) for name in {NAMES}]
assert not {{"numpy", "scipy", "numba", "torch", "pandas", "pyarrow"}} & set(sys.modules), "import"
for package in packages:
    for public in package.__all__:
        getattr(package, public)
for module in {modules}:
    for loaded in [name for name in sys.modules if name.startswith("oversmoothing")]:
        del sys.modules[loaded]
    importlib.import_module(module)
assert "numpy" in sys.modules and not {{"torch", "pandas", "pyarrow", "snakemake"}} & set(sys.modules), "use"
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
