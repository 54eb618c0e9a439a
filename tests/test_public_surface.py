"""What others may use is what docs/api.md promises, works as its examples show, and is loaded only where it is used."""

import doctest
import inspect
import os
import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from oversmoothing.fingerprint import SCRIPTS, relative
from plan.studies import FOLDER
from schemas.describe import ROOT
from schemas.surface import PACKAGES, lines, parquet_columns, surface

WORKFLOW = FOLDER.parent
NAMES = [package.__name__.rpartition(".")[2] for package in PACKAGES]
SURFACE = surface()
FUNCTIONS = [name for name, thing in SURFACE.items() if inspect.isfunction(thing)]
EARLIER = (  # paths that pages, notebooks and benchmarks of versions since 0.2 have named
    "argmaxability.classes.argmaxable argmaxability.classes.reachable bat.basis.prepare bat.reject.DELTA "
    "bat.reject.reject_set forced.divergence.divergence forced.ellipsoid.project_on_ellipsoid forced.head.prepare "
    "forced.projection.project forced.projection.project_on"
)


PROMISED = ROOT / "tests/promised.txt"
TO_DO = """
The public surface has changed. What is gone breaks programs of others: put it back, or raise the major version.
What is new needs a line in CHANGELOG.md, and the next minor version. Then:
PYTHONPATH=workflow:scripts python -m schemas.surface > tests/promised.txt && make docs
"""


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
    assert headings == ["oversmoothing.compare", *SURFACE]
    assert {"bat.reject_set", "bat.bracket", "forced.project", "forced.divide", "argmaxability.argmaxable"} <= set(
        headings
    )
    assert 8 <= len(FUNCTIONS) <= 14


def test_what_is_promised_holds():
    before, now = PROMISED.read_text().splitlines(), lines()
    gone = [f"gone or moved: {line}" for line in before if line not in now]
    new = [f"new or moved: {line}" for line in now if line not in before]
    assert now == before, "\n".join([TO_DO, *gone, *new])


def test_every_kind_of_promise_has_parts_that_are_there():
    """A reader of declarations that finds none would promise nothing, and no change would fail."""
    kinds = {line.partition(": ")[0] for line in lines()}
    assert len(kinds) == 7
    for line in (
        "Arguments of commands: head: [--positions N]",
        "Arguments of commands: frontier: --text FILE",
        "Arguments of commands: needs: [--configfile FILE ...]",
        "Keys of what `--json` writes: size: [draft.kept.low number or null]",
        "Parameters of functions: oversmoothing.compare: [windows]",
        "Fields of results: bat.RejectSet: mass",
        "Sections of a config: config: family",
        "Columns of tables: tables: [quantile]",
        "Columns of Parquet files: scores/tbat/{model}.parquet: undecided int32",
    ):
        assert line in lines(), line


def test_columns_of_a_parquet_file_are_names_with_a_type():
    row = "| `a/{x}.parquet` | `n`, `m` int32 (not `k` text); `t` text, the `n` of it; `unit` of the metadata |\n"
    same = "| `b.parquet` | the same, and `low` float64 |\n"
    first = {"n": "int32", "m": "int32", "t": "text"}
    assert parquet_columns(row + same) == {"a/{x}.parquet": first, "b.parquet": first | {"low": "float64"}}


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
def test_a_package_offers_each_name_beside_its_modules(name):
    """Importing a module binds its name in the package, in place of a function's."""
    package = import_module(f"oversmoothing.{name}")
    modules = {path.stem for path in (SCRIPTS / "oversmoothing" / name).iterdir()}
    assert modules.isdisjoint(package.__all__)
    everything = {}
    exec(f"from oversmoothing.{name} import *", everything)
    assert everything.keys() - {"__builtins__"} == set(package.__all__)


PLANNED = """
import sys
import oversmoothing.numerics.log_ratio, oversmoothing.commands, plan.thesis, plan.models, schemas.config
import oversmoothing.commands.arguments.head, oversmoothing.scores.decodings.bat
loaded = {"numba", "scipy", "torch", "transformers"} & set(sys.modules)
assert not loaded, loaded
"""
USED = f"""
import importlib, sys
modules = {
    [
        relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in NAMES
        for path in sorted((SCRIPTS / "oversmoothing" / name).rglob("*.py"))
    ]
}
for module in modules:
    for loaded in [name for name in sys.modules if name.startswith("oversmoothing")]:
        del sys.modules[loaded]
    importlib.import_module(module)
loaded = {{"torch", "pandas", "pyarrow", "snakemake"}} & set(sys.modules)
assert not loaded, loaded
"""


@pytest.mark.parametrize(
    "program", [PLANNED, USED], ids=["a plan and --help load no numba", "each module can be first"]
)
def test_imports_load_what_they_need_alone(program):
    search = os.pathsep.join(map(str, (SCRIPTS, WORKFLOW)))
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": search}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
