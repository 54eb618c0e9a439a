"""The digest of a rule's code changes with behaviour and with nothing else."""

import ast
import re
import shutil
from importlib.metadata import PackageNotFoundError

import pytest
from imported import imported

from oversmoothing import fingerprint as module
from oversmoothing.fingerprint import SCRIPTS, closure, fingerprint, relative
from plan import studies

TRAINING_IMPORTS = {  # by room, of which each has an `__init__` too
    "": "fingerprint jobs printable",
    "data/": "reader",
    "models/": "device head_gradient model output_kinds output_layers weights",
    "store/": "atomic identity provenance seal sealed_json tensors",
    "training/": "batches checkpoint chosen_rate folder group launch lock loop objectives optimiser outputs step task "
    "throughput",
}


@pytest.fixture
def scripts(tmp_path):
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "scripts"


def fresh(script, root):
    module._read.cache_clear()
    module._imports.cache_clear()
    return fingerprint(script, root)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_what_training_imports():
    """A longer list means that more edits retrain every model: think twice before adding to it."""
    modules = [f"{room}{name}" for room, names in TRAINING_IMPORTS.items() for name in ["__init__", *names.split()]]
    expected = {"train.py", *(f"oversmoothing/{module}.py" for module in modules)}
    assert {path.relative_to(SCRIPTS).as_posix() for path in closure("train.py")} == expected


JOB = "fingerprint jobs printable store"
HELD = f"{JOB} models/logits models/logit_files models/output_kinds models/spectra numerics/softcap"
MODEL = f"{JOB} models/device models/head_gradient models/model models/output_kinds models/output_layers models/weights"
BAT = "bat numerics/compiled numerics/distributions numerics/layer_norm"
TBAT = f"{HELD} {BAT} scores/probabilities scores/files scores/tbat"
FROM_HUB = "oversmoothing/models/truths/load.py"


@pytest.mark.parametrize(
    ("files", "imports"),
    [
        (["choose_learning_rate.py"], f"{JOB} training"),
        (["tokenise.py"], f"{JOB} data"),
        (["logits.py"], f"{MODEL} {HELD} data models/inference models/predictor"),
        (
            ["logits.py", FROM_HUB],
            f"{MODEL} {HELD} data hub models/inference models/predictor models/pretrained models/truths",
        ),
        (["head_logits.py"], f"{HELD} models/factored_head numerics/layer_norm"),
        (
            ["sample.py"],
            f"{MODEL} data models/predictor models/spectra samples scores/catalogue/decoders scores/decoding "
            "scores/probabilities",
        ),
        (["tbat.py"], f"{TBAT} scores/catalogue/decoders scores/decoding numerics/spaced_positions"),
        (["tbat_approximation.py"], f"{TBAT} numerics/spaced_positions"),
        (
            ["score.py"],
            f"{HELD} scores/candidates scores/catalogue/decoders scores/catalogue/metrics "
            "scores/decoding scores/files scores/metrics scores/nucleus scores/probabilities",
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
def test_what_long_computations_import(files, imports):
    """A longer list means that more edits compute for hours: think twice before adding to it."""
    assert imported(*files) == set(imports.split())


def test_a_new_metric_is_scored_and_shown_and_no_more(scripts):
    before = {script.name: fresh(script.name, scripts) for script in scripts.glob("*.py")}
    edit(
        scripts / "oversmoothing/scores/catalogue/metrics.py",
        '    "tbat": Metric(',
        '    "new": Metric("New", "bits", "lower"),\n    "tbat": Metric(',
    )
    changed = {script for script in before if fresh(script, scripts) != before[script]}
    assert changed >= {"score.py", "score_table.py"}
    shown = {script for script in changed if script.endswith(("_table.py", "_figure.py"))}
    assert changed - shown - {"story.py", "needs.py"} == {"score.py"}


def test_a_new_decoding_changes_nothing_and_one_that_is_used_what_uses_it(scripts):
    """The rules of scripts that decode add the fingerprints of the decodings that they use."""
    files = [path.relative_to(scripts).as_posix() for path in scripts.glob("*.py")]
    top_p, eta = (f"oversmoothing/scores/decodings/{name}.py" for name in ("top_p", "eta"))
    before = {file: fresh(file, scripts) for file in [*files, top_p, eta]}
    (scripts / "oversmoothing/scores/decodings/top_a.py").write_text(
        (scripts / eta).read_text().replace("eta", "top_a")
    )
    edit(scripts / eta, "math.sqrt(epsilon)", "2 * math.sqrt(epsilon)")
    assert {file for file in before if fresh(file, scripts) != before[file]} == {eta}
    edit(scripts / "oversmoothing/scores/nucleus.py", "_NEAR = 16", "_NEAR = 32")
    assert {top_p, eta, "score.py"} <= {file for file in before if fresh(file, scripts) != before[file]}


def test_what_no_import_names_is_imported_through_one_door():
    """`jobs.import_by_name`, which sees to it that fingerprints cover it; but not where no job's code runs.

    So in `commands`, and where packages look up what others import (`tests/test_public_surface.py`).
    """
    doors = re.compile(r"(?<!def )\bimport_module\(|__import__")
    names = {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.rglob("*.py") if doors.search(path.read_text())}
    others = [f"{package}/__init__" for package in ("argmaxability", "bat", "commands", "forced")]
    assert names == {f"oversmoothing/{name}.py" for name in ("jobs", "scores/catalogue/decoders", *others)}


def test_scoring_and_tables_are_free_of_torch():
    for script in (
        "score.py",
        "tbat.py",
        "tbat_approximation.py",
        "head_logits.py",
        "score_table.py",
        "samples_table.py",
        "architecture_figure.py",
        "build_corpus.py",
        "draw_windows.py",
        *(
            f"studies/{path.parent.name}/{path.name}"
            for step in ("show", "table")
            for path in studies.FOLDER.glob(f"*/{step}.py")
        ),
    ):
        for path in closure(script):
            tree = ast.parse(path.read_text())
            for node in (part for top in tree.body if not _for_types(top) for part in ast.walk(top)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not any(name.split(".")[0] == "torch" or name == "safetensors.torch" for name in names), path


def _for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_does_not_depend_on_where_the_project_lies(scripts):
    for script in SCRIPTS.glob("*.py"):
        assert fresh(script.name, scripts) == fingerprint(script.name)


def test_what_only_type_checkers_import_is_no_part_of_the_code(scripts):
    before = fresh("train.py", scripts)
    model = scripts / "oversmoothing/models/model.py"
    added = (
        model.read_text()
        + "\n\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import oversmoothing.scores.tbat\n"
    )
    model.write_text(added)
    typed = fresh("train.py", scripts)
    edit(scripts / "oversmoothing/scores/tbat.py", "def choose_basis(", "X = 1\n\n\ndef choose_basis(")
    assert fresh("train.py", scripts) == typed != before


def test_comments_docstrings_and_blank_lines_do_not_count(scripts):
    before = fresh("train.py", scripts)
    model = scripts / "oversmoothing/models/model.py"
    edit(model, '"""The byte-level GPT', '"""Another docstring: the byte-level GPT')
    edit(model, "class Block(nn.Module):", "\n# a comment\n\nclass Block(nn.Module):")
    edit(model, '    """Causal multi-head self-attention."""\n', "")
    (scripts / "train.py").touch()
    assert fresh("train.py", scripts) == before


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
        ('return_("a")\n', 'return_("b")\n', True),
        ("logger.info(3)\n", "logger.info(4)\n", True),
    ],
)
def test_which_edits_count(tmp_path, one, other, counts):
    digests = set()
    for text in (one, other):
        (tmp_path / "a.py").write_text(text)
        digests.add(fresh("a.py", tmp_path))
    assert (len(digests) == 2) == counts


def test_a_new_module_in_the_closure_counts(tmp_path):
    (tmp_path / "b.py").write_text("x = 1\n")
    (tmp_path / "a.py").write_text("import b\n")
    before = fresh("a.py", tmp_path)
    (tmp_path / "b.py").write_text("x = 2\n")
    assert fresh("a.py", tmp_path) != before
    assert [path.name for path in closure("a.py", tmp_path)] == ["a.py", "b.py"]


def test_the_template_beside_a_module_counts(tmp_path):
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    (tmp_path / "b.html").write_text("<p>")
    before = fresh("a.py", tmp_path)
    (tmp_path / "b.html").write_text("<b>")
    changed = fresh("a.py", tmp_path)
    (tmp_path / "c.html").write_text("<p>")
    assert before != changed == fresh("a.py", tmp_path)


def test_the_story_of_a_study_counts_where_it_is_read(tmp_path):
    for name, code in {"table": "from oversmoothing.tables.story import legend\n", "measure": "x = 1\n"}.items():
        (tmp_path / f"{name}.py").write_text(code)
    (tmp_path / "story.md").write_text("# Why?\n")
    before = {name: fresh(f"{name}.py", tmp_path) for name in ("table", "measure")}
    told = fresh("story.md", tmp_path)
    (tmp_path / "story.md").write_text("# How?\n")
    assert fresh("table.py", tmp_path) != before["table"]
    assert fresh("measure.py", tmp_path) == before["measure"]
    assert fresh("story.md", tmp_path) != told


def test_a_story_of_the_library_is_read_by_tables_alone(scripts):
    before = {script.name: fresh(script.name, scripts) for script in scripts.glob("*.py")}
    edit(scripts / "oversmoothing/tables/models.story.md", "Learning rates tried", "Learning rates that were tried")
    changed = {script for script in before if fresh(script, scripts) != before[script]}
    assert {"losses_table.py", "learning_rates_table.py"} < changed
    assert all(name.endswith(("_table.py", "_figure.py")) for name in changed - {"story.py"})


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
        ("torch", ["train.py", "logits.py"], ["score.py", "tbat.py", "score_table.py"]),
        ("scipy", ["tbat.py"], ["train.py", "logits.py"]),
        ("numba", ["tbat.py", "build_corpus.py"], ["train.py", "logits.py"]),
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


@pytest.mark.parametrize("version", ["2.13.7", "2.13.0+cpu"])
def test_a_repair_or_another_build_of_a_package_does_not_count(lock, version):
    lock("torch", "2.13.0")
    before = fingerprint("train.py")
    lock("torch", version)
    assert fingerprint("train.py") == before


def test_packages_that_count_are_locked():
    locked = module._locked()
    assert all(package in locked for packages in module.COUNTED.values() for package in packages)


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
