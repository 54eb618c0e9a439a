"""A study is its folder, its tests and its line in the config: without them nothing mentions it, and all else works.

All are taken out at once but the one whose figure `make` draws beside the main table; with them goes what tells of the
whole project, its findings and its size.
"""

import re
import shutil
from functools import reduce

import pytest
import yaml
from study import ROOT, TINY, copy_project, rules_of

from plan import studies

pytestmark = pytest.mark.slow

CODE = ("py", "smk", "yaml", "rst")
MAIN = "config/config.yaml"
QUICK = ("plan", "claims")
MAIN_STUDY = "forced_part"
OF_THE_WHOLE = (  # pages of what was found, and tests of these, of kept runs and of what the code amounts to
    "docs/source",
    "workflow/pages",
    *(f"tests/test_{name}.py" for name in ("article", "kept_runs", "page_quantities", "rendered_pages", "shape")),
    "tests/shape.py",
    "tests/measures/test_measured_once.py",
)
GONE = [name for name in studies.there() if name != MAIN_STUDY]


def taken_out(names, folder):
    """Copy the project, without the folders of studies, their tests, and what configs say of them.

    That is their names, sections, tables and figures.
    """
    study = copy_project(folder)
    shutil.rmtree(folder / "tests")
    for part in ("tests", "docs", "benchmarks"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (path for path in ROOT.iterdir() if path.is_file()):
        shutil.copy(path, folder)
    for gone in map(folder.joinpath, OF_THE_WHOLE):
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    pages = "".join((studies.FOLDER / name / "README.md").read_text() for name in names)
    made = re.findall(r"^\| `(?:(?:tables|figures)/)?(\w+)` \|", pages, flags=re.MULTILINE)
    sections: dict = {}
    for name in names:
        for part in ("workflow", "tests"):
            shutil.rmtree(folder / part / "studies" / name)
        schema = studies.FOLDER / name / "schema.yaml"
        studies.merge(sections, yaml.safe_load(schema.read_text()) if schema.is_file() else {})
    for path in {*folder.glob("config/*.yaml"), *folder.glob("tests/config/*.yaml")} - {folder / MAIN}:
        config = yaml.safe_load(path.read_text())
        for listed, gone in (("studies", names), ("wanted", made)):
            if config.get(listed):
                config[listed] = [name for name in config[listed] if name not in gone]
        if not config.get("wanted"):  # of its own results nothing is left
            config.pop("wanted", None)
        for *outer, key in keys(sections):
            part = reduce(lambda inner, name: inner.get(name, {}), outer, config)
            part.pop(key, None)
        path.write_text(yaml.safe_dump(config, sort_keys=False))
    path = folder / MAIN  # whose comments the pages quote
    lines = path.read_text().splitlines(keepends=True)
    text = "".join(line for line in lines if not any(name in line for name in names))
    text = re.sub(rf"^ +- ({'|'.join(made)})\n", "", text, flags=re.MULTILINE)  # of `wanted`
    for *outer, key in keys(sections):
        indent = "  " * len(outer)
        text = re.sub(rf"^{indent}{key}:.*\n(?:(?:{indent} |{indent}#).*\n)*", "", text, flags=re.MULTILINE)
        text = re.sub(rf"(, )?\b{key}: [^,}}\n]+(?=[,}}])" if outer else "$^", "", text)
    path.write_text(re.sub(r"^studies: +#.*\n(?! +- )", "studies: []\n", text, flags=re.MULTILINE))  # of the last
    return study


def keys(sections):
    """Yield the paths of keys that a study's schema adds: its sections, and keys in sections of others."""
    for key, part in sections.items():
        if part.keys() <= {"required", "properties"}:
            yield from ((key, *inner) for inner in keys(part["properties"]))
        else:
            yield (key,)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    return taken_out(GONE, tmp_path_factory.mktemp("without") / "project")


def test_no_other_file_mentions_them(without):
    files = [path for part in ("scripts", "workflow", "tests") for path in without.folder.glob(f"{part}/**/*")]
    text = {path: path.read_text() for path in files if path.suffix[1:] in CODE or path.name == "story.md"}
    assert len(text) > 300
    mentioned = re.compile(rf"({'|'.join(GONE)})(?![a-z])")  # a plural is another word
    assert [str(path) for path in text if mentioned.search(text[path].lower())] == []


def planned(study, tests, **settings):
    """Plan a project with all rules of the studies whose tests are in a folder; return jobs by rule."""
    for optional in tests.glob("studies/*/every_rule*.yaml"):
        settings |= yaml.safe_load(optional.read_text())
    (study.folder / "every.yaml").write_text(yaml.safe_dump(settings))
    return study.planned("all", config=(TINY, "every.yaml"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The whole project, and the rules of its plan."""
    study = copy_project(tmp_path_factory.mktemp("whole") / "project")
    return study, set(planned(study, ROOT / "tests"))


def test_the_rest_is_planned_as_if_the_config_left_them_out(without, whole):
    study, rules = whole
    theirs = [rules_of(name) for name in GONE]
    assert all(rules & own for own in theirs)
    rest = planned(without, without.folder / "tests")
    assert rest == planned(study, without.folder / "tests", studies=[MAIN_STUDY])
    assert not set(rest) & set().union(*theirs)


def test_the_rest_is_linted(without):
    without.python("-m", "ruff", "check", "--no-cache", ".")


def test_the_tests_of_the_rest_can_be_run_and_the_quick_ones_pass(without):
    without.python("-m", "schemas.describe")  # make docs
    tests = ("-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", "0")
    assert "error" not in without.python(*tests, "--collect-only").stdout.splitlines()[-1]
    without.python(*tests, *(f"tests/{part}" for part in QUICK))


def test_the_types_and_a_toy_run_of_the_rest(without):
    without.python("-m", "mypy")
    without.snakemake("", options=["--lint"])
    without.snakemake("all")
    made = [path for folder in ("tables", "figures") for path in without.folder.glob(f"results/{folder}/*")]
    assert len(made) > 20
    assert not any(name in path.name for path in made for name in GONE)
    page = re.sub(r"<script>.*?</script>", "", (without.folder / "results/index.html").read_text(), flags=re.DOTALL)
    assert not any(name in page.lower() for name in GONE)
