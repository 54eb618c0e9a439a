"""The digest of a rule's code changes with behaviour and with nothing else."""

import ast
import re
import shutil
from importlib.metadata import PackageNotFoundError

import pytest

from oversmoothing import fingerprint as module
from oversmoothing.fingerprint import SCRIPTS, closure, fingerprint, relative
from plan import studies

WORKFLOW = studies.FOLDER.parent


def fresh(script, root):
    module._read.cache_clear()
    module._imports.cache_clear()
    return fingerprint(script, root)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_what_redoes_what(tmp_path, monkeypatch):
    """One edit after another in a copy of the project, which elsewhere has the same fingerprints."""
    monkeypatch.setattr(module, "KNOWN", module.READ)  # no file is parsed twice
    scripts = shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    files = [path.relative_to(scripts).as_posix() for path in scripts.glob("*.py")]
    top_p, eta = (f"oversmoothing/scores/decodings/{name}.py" for name in ("top_p", "eta"))
    known = {file: fingerprint(file) for file in [*files, top_p, eta]}

    def changed():
        before = dict(known)
        module._read.cache_clear()
        module._imports.cache_clear()
        known.update((file, fingerprint(file, scripts)) for file in before)
        return {file for file in known if known[file] != before[file]}

    assert not changed()
    model = scripts / "oversmoothing/models/model.py"
    edit(model, '"""The byte-level GPT', '"""Another docstring: the byte-level GPT')
    edit(model, "class Block(nn.Module):", "\n# a comment\n\nclass Block(nn.Module):")
    edit(model, '    """Causal multi-head self-attention, which sees `reach` tokens before its own, or all."""\n', "")
    assert not changed()
    with model.open("a") as file:
        file.write("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import oversmoothing.scores.sums\n")
    assert "train.py" in changed()
    edit(scripts / "oversmoothing/scores/sums.py", "def pure_means(", "X = 1\n\n\ndef pure_means(")
    assert "train.py" not in changed()  # which only type checkers read there
    edit(scripts / "oversmoothing/tables/models.story.md", "Learning rates tried", "Learning rates that were tried")
    told = changed()
    assert {"losses_table.py", "learning_rates_table.py"} < told
    assert all(name.endswith(("_table.py", "_figure.py")) for name in told - {"story.py"})
    metric = '    "new": Metric("New", "bits", "lower"),\n'
    edit(scripts / "oversmoothing/scores/catalogue/metrics.py", '    "tbat": Metric(', f'{metric}    "tbat": Metric(')
    scored = changed()
    assert scored >= {"score.py", "score_table.py"}
    shown = {script for script in scored if script.endswith(("_table.py", "_figure.py"))}
    assert scored - shown - {"story.py", "needs.py"} == {"score.py"}
    # The rules of scripts that decode add the fingerprints of the decodings that they use.
    another = scripts / "oversmoothing/scores/decodings/top_a.py"
    another.write_text((scripts / eta).read_text().replace("eta", "top_a"))
    edit(scripts / eta, "math.sqrt(epsilon)", "2 * math.sqrt(epsilon)")
    assert changed() == {eta}
    edit(scripts / "oversmoothing/scores/nucleus.py", "_NEAR = 16", "_NEAR = 32")
    assert {top_p, "score.py"} <= changed()


def test_what_no_import_names_is_imported_through_one_door():
    """`jobs.import_by_name`, which sees to it that fingerprints cover it; but not where no job's code runs.

    So in `commands`, and for what the library itself offers, which loads PyTorch.
    """
    doors = re.compile(r"(?<!def )\bimport_module\(|__import__")
    names = {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.py") if doors.search(path.read_text())}
    others = ("__init__", "commands/__init__")
    assert names == {f"oversmoothing/{name}.py" for name in ("jobs", "scores/catalogue/decoders", *others)}


TBAT = "oversmoothing/measures/entries/tbat.py"
STEPS = "tbat tbat_approximation forced side_by_side ranks argmaxability"  # measures of steps
FREE = "score measure head_logits score_table samples_table architecture_figure build_corpus draw_windows"


def test_scoring_and_tables_are_free_of_torch():
    of_studies = [relative(path) for step in ("show", "table") for path in studies.FOLDER.glob(f"*/{step}.py")]
    entries = (f"oversmoothing/measures/entries/{name}.py" for name in STEPS.split())
    scripts = *(f"{name}.py" for name in FREE.split()), *entries, *of_studies
    for path in {path for script in scripts for path in closure(script)}:
        for node in (part for top in ast.parse(path.read_text()).body if not _for_types(top) for part in ast.walk(top)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "torch" or name == "safetensors.torch" for name in names), path


def _for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@pytest.mark.parametrize(
    ("one", "other", "counts"),
    [
        # The same names in the same order, but another indentation or other brackets, are other code.
        ("for i in x:\n    a()\n    b()\n", "for i in x:\n    a()\nb()\n", True),
        ("f(g(x), y)\n", "f(g(x, y))\n", True),
        ("if a:\n    b()\nelse:\n    c()\n", "if a:\n    b()\n    c()\n", True),
        ("a = [1, [2, 3]]\n", "a = [1, [2], 3]\n", True),
        # A docstring does not count, and any other text does.
        ('def f():\n    """Doc."""\n    return "x"\n', 'def f():\n    """Other."""\n    return "x"\n', False),
        ('def f():\n    """Doc."""\n    return "x"\n', 'def f():\n    """Doc."""\n    return "y"\n', True),
        # What a user is told does not count, but what is computed for it does.
        ('raise UserError("a")\n', 'raise UserError("b")\n', False),
        ('raise UserError(f"a {x} b")\n', 'raise UserError(f"c {x} d")\n', False),
        ('logger.info("a %d", x)\n', 'logger.info("b: %d", x)\n', False),
        ('raise UserError(f"a {x}")\n', 'raise UserError(f"a {y}")\n', True),
        ('raise UserError(f"a {x}")\n', """raise UserError(f"a {x['b']}")\n""", True),
        ("""raise UserError(f"a {x['b']}")\n""", """raise UserError(f"a {x['c']}")\n""", True),
        ('raise UserError(g("a"))\n', 'raise UserError(g("b"))\n', True),
        ('raise UserError("a")\n', 'raise OtherError("a")\n', True),
        ('raise KeyError("a")\n', 'raise KeyError("b")\n', True),
        ('logger.info("a")\n', 'logger.error("a")\n', True),
        ('other.info("a")\n', 'other.info("b")\n', True),
        ("logger.info(3)\n", "logger.info(4)\n", True),
    ],
)
def test_which_edits_count(tmp_path, one, other, counts):
    digests = set()
    for text in (one, other):
        (tmp_path / "a.py").write_text(text)
        digests.add(fresh("a.py", tmp_path))
    assert (len(digests) == 2) == counts


@pytest.mark.parametrize(
    "reads", ["from oversmoothing.tables.story import legend", "from oversmoothing.tables import story"]
)
def test_the_template_beside_a_module_and_the_story_that_it_reads_count(tmp_path, reads):
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text(f"{reads}\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    (tmp_path / "story.md").write_text("# Why?\n")
    (tmp_path / "b.html").write_text("<p>")
    before, other = fresh("a.py", tmp_path), fresh("other.py", tmp_path)
    (tmp_path / "b.html").write_text("<b>")
    changed = fresh("a.py", tmp_path)
    (tmp_path / "c.html").write_text("<p>")
    assert before != changed == fresh("a.py", tmp_path)
    told = fresh("story.md", tmp_path)
    (tmp_path / "story.md").write_text("# How?\n")
    assert fresh("a.py", tmp_path) != changed
    assert fresh("story.md", tmp_path) != told
    assert fresh("other.py", tmp_path) == other


def test_every_module_that_reads_a_legend_changes_with_the_story_of_its_study(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "KNOWN", module.READ)  # no file is parsed twice
    roots = SCRIPTS, shutil.copytree(WORKFLOW, tmp_path / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    for story in roots[1].glob("studies/*/story.md"):
        reading = [path for path in story.parent.glob("*.py") if "__file__" in path.read_text()]
        assert reading, f"no module reads {story}"
        files = [relative(path, *roots) for path in reading]
        before = [fingerprint(file, *roots) for file in files]
        edit(story, "# ", "# Or: ")
        module._read.cache_clear()
        for file, old in zip(files, before, strict=True):
            assert fingerprint(file, *roots) != old, file


def test_code_may_lie_in_several_folders(tmp_path):
    """As that of a study, beside the library that it imports."""
    library, workflow = tmp_path / "library", tmp_path / "workflow"
    (workflow / "studies/mine").mkdir(parents=True)
    library.mkdir()
    (library / "b.py").write_text("x = 1\n")
    (workflow / "studies/mine/c.py").write_text("import b\n")
    (workflow / "studies/mine/a.py").write_text("from studies.mine import c\n")
    roots = (library, workflow)
    files = closure("studies/mine/a.py", *roots)
    assert [relative(file, *roots) for file in files] == ["b.py", "studies/mine/a.py", "studies/mine/c.py"]
    before = fingerprint("studies/mine/a.py", *roots)
    (library / "b.py").write_text("x = 2\n")
    module._read.cache_clear()
    module._imports.cache_clear()
    assert fingerprint("studies/mine/a.py", *roots) != before
    with pytest.raises(ValueError, match=r"elsewhere\.py lies in none of"):
        relative(tmp_path / "elsewhere.py", *roots)


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    import b\n",
        "class A:\n    def f(self):\n        from b import x\n",
        "try:\n    import c\nexcept ImportError:\n    import b\n",
        "try:\n    import c\nfinally:\n    import b\n",
        "if x:\n    pass\nelse:\n    import b\n",
        "match x:\n    case 1:\n        import b\n",
    ],
)
def test_an_import_counts_wherever_it_stands(tmp_path, code):
    (tmp_path / "b.py").write_text("x = 1\n")
    (tmp_path / "a.py").write_text(code)
    assert [path.name for path in closure("a.py", tmp_path)] == ["a.py", "b.py"]


HANDED_ON = '"""A package."""\nfrom p.b import x\nfrom p.c import y as y, z\n\n__all__ = ["x", "z"]\n'


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from p.b import x\n", ["b.py"]),
        ("from p import x\n", ["b.py"]),
        ("from p import x, y\n", ["b.py", "c.py", "d.py"]),
        ("from p import c\n", ["c.py", "d.py"]),
        ("import p.e\n", ["e.py"]),
        ("import p\n", ["b.py", "c.py", "d.py"]),
        ("from p import *\n", ["b.py", "c.py", "d.py"]),
    ],
)
def test_whoever_imports_a_name_that_a_package_hands_on_depends_on_its_module_alone(tmp_path, code, found):
    (tmp_path / "p").mkdir()
    (tmp_path / "a.py").write_text(code)
    (tmp_path / "p/__init__.py").write_text(HANDED_ON)
    for name, text in {"b": "x = 1\n", "c": "from p.d import z\ny = 2\n", "d": "z = 3\n", "e": "u = 4\n"}.items():
        (tmp_path / f"p/{name}.py").write_text(text)
    assert [path.name for path in closure("a.py", tmp_path)[1:]] == found


@pytest.mark.parametrize("more", ["X = 1", "print()", "from p.c import z as u", "from p.c import *", "import p.c"])
def test_a_package_that_does_more_than_hand_on_names_counts(tmp_path, more):
    (tmp_path / "p").mkdir()
    (tmp_path / "a.py").write_text("from p.b import x\n")
    (tmp_path / "p/b.py").write_text("x = 1\n")
    (tmp_path / "p/__init__.py").write_text(f"{HANDED_ON}{more}\n")
    assert [path.name for path in closure("a.py", tmp_path)] == ["a.py", "__init__.py", "b.py"]


def test_one_module_of_forced_changes_the_steps_that_import_it_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "KNOWN", module.READ)  # no file is parsed twice
    library = shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    roots = library, WORKFLOW
    entries = SCRIPTS.glob("oversmoothing/measures/entries/*.py")
    steps = [relative(path) for path in (*SCRIPTS.glob("*.py"), *entries, *WORKFLOW.glob("studies/*/*.py"))]
    before = {step: fingerprint(step, *roots) for step in steps}
    face = library / "oversmoothing/forced/face.py"
    face.write_text(f"{face.read_text()}X = 1\n")
    module._read.cache_clear()
    changed = {step for step in steps if fingerprint(step, *roots) != before[step]}
    assert changed == {step for step in steps if face in closure(step, *roots)}
    assert {"oversmoothing/measures/entries/forced.py", "studies/forced_part/table.py"} <= changed
    assert "studies/forced_part/best_head.py" not in changed  # which imports other modules of forced


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """A lock in which a test may change a version."""
    path = tmp_path / "lock.txt"
    path.write_text(module.LOCK.read_text())
    monkeypatch.setattr(module, "LOCK", path)
    module._locked.cache_clear()

    def change(name, version):
        pin = next(line for line in path.read_text().splitlines() if line.startswith(f"{name}=="))
        path.write_text(path.read_text().replace(pin, f"{name}=={version}"))
        module._locked.cache_clear()

    yield change
    module._locked.cache_clear()


@pytest.mark.parametrize(
    ("package", "redone", "kept"),
    [
        ("torch", ["train.py", "logits.py"], ["score.py", TBAT, "score_table.py"]),
        ("scipy", [TBAT], ["train.py", "logits.py"]),
        ("numba", [TBAT], ["train.py", "logits.py", "build_corpus.py"]),
        ("numpy", ["train.py", "score.py"], ["fetch.py"]),
        ("tokenizers", ["learn_tokens.py"], ["train.py", "score.py"]),
        ("seaborn", [], ["train.py", "score.py", "losses_figure.py"]),
        ("pandas", [], ["score_table.py"]),
    ],
)
def test_the_version_of_a_package_counts_where_it_computes(lock, package, redone, kept):
    before = {script: fingerprint(script) for script in (*redone, *kept)}
    lock(package, "99.0.1")
    changed = {script for script in before if fingerprint(script) != before[script]}
    assert changed == set(redone)
    for other in ("99.0.7", "99.0.1+cpu"):  # a repair or another build does not count
        after = {script: fingerprint(script) for script in before}
        lock(package, other)
        assert {script: fingerprint(script) for script in before} == after


@pytest.mark.parametrize(
    ("version", "found"), [("9.9.9", {"torch": ("9.9", "2.13")}), ("2.13.0+cpu", {}), ("2.13.7", {}), (None, {})]
)
def test_a_package_of_another_version_than_the_locks_is_named(lock, monkeypatch, version, found):
    lock("torch", "2.13.0")

    def installed(package):
        if package != "torch":
            return module._locked()[package]
        if version is None:
            raise PackageNotFoundError(package)
        return version

    monkeypatch.setattr(module, "version", installed)
    assert module.unlike_lock() == found
