"""What the README and docs/ say works, works."""

import ast
import re
import shlex
import sys

import pytest
import yaml
from default_config import DEFAULT, default
from snakemake.cli import get_argument_parser
from study import ROOT

from oversmoothing.commands import COMMANDS
from oversmoothing.fingerprint import SCRIPTS, relative
from plan import studies

PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for pattern in ("*.md", "docs/*.md", "config/README.md", "workflow/studies/*/README.md")
    for path in ROOT.glob(pattern)
}
README, RESULTS = PAGES["README.md"], PAGES["docs/results.md"]
CODE = {
    f"{name}-{i}": code
    for name, page in PAGES.items()
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    if name != "CONTRIBUTING.md"
}
SHOWN = ("pure", "bn4", "validation_loss", "(1000, 256) 0.101", "[0.185 0.18", "effective rank: 3.99 of 4")


@pytest.mark.parametrize("name", CODE)
def test_its_python_runs_on_real_results(study, name, monkeypatch, capsys):
    monkeypatch.chdir(study.folder)
    exec(CODE[name], {})
    printed = capsys.readouterr().out
    assert any(word in printed for word in SHOWN)


def test_links_and_paths_exist():
    for name, page in PAGES.items():
        folder = (ROOT / name).parent
        links = re.findall(r"\]\((?!http)([^)]+)\)", page)
        for link in links:
            file, _, heading = link.partition("#")
            target = folder / file if file else ROOT / name
            assert target.exists(), f"{name}: {link}"
            if heading:
                assert heading in anchors(target.read_text()), f"{name}: {link}"
        for path in re.findall(r"`((?:config|envs|benchmarks|slurm|tests|docs)/[\w./+]+)`", page):
            assert (ROOT / path).exists(), f"{name}: {path}"
    assert sum(page.count("](") for page in PAGES.values()) > 20


def anchors(page):
    """Return the names of a page's headings as links have them."""
    headings = re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings]


def test_every_page_is_linked_from_the_list_of_pages_and_that_from_the_readme():
    index = (ROOT / "docs/README.md").read_text()
    linked = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#]+)", index)}
    pages = (name for name in PAGES if not name.startswith("workflow/") and not name.endswith("README.md"))
    assert {ROOT / name for name in (*pages, "config/README.md")} <= linked
    assert "](docs/README.md)" in README
    assert "](../workflow/studies)" in RESULTS  # whose READMEs are pages too


def test_its_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    for name, page in PAGES.items():
        if name == "CHANGELOG.md":  # names what is gone
            continue
        for target in set(re.findall(r"(?:`|[$] )make ([a-z-]+)", page)):
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
        assert set(re.findall(r"(?:`|[$] )oversmoothing ([a-z]+)", page)) <= set(COMMANDS)
        for script in re.findall(r"python ((?:scripts|benchmarks)/\w+\.py)", page):
            assert (ROOT / script).is_file(), script


def test_its_commands_of_snakemake_name_no_target_as_a_config():
    """`--configfile` and `--config` take all words behind them, up to an option or `--`."""
    comments = {path.name: path.read_text() for path in (ROOT / "config").glob("*.yaml")}
    parser = get_argument_parser()
    seen = 0
    for name, page in (PAGES | comments).items():
        for line in re.findall(r"(?:`|[$] |: )snakemake ((?:[^`#]|\n(?=--))+?)(?=`|#|\n(?!--)|$)", page):
            given = parser.parse_args(shlex.split(line.replace("\n", " ")))
            assert all(str(file).endswith(".yaml") for file in given.configfile or []), f"{name}: {line}"
            assert all("=" in entry for entry in given.config or []), f"{name}: {line}"
            seen += bool(given.configfile)
    assert seen > 10


def test_the_configs_it_shows_are_accepted(tmp_path):
    from checks.config import check

    blocks = [block for page in PAGES.values() for block in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)]
    assert len(blocks) >= 5
    for block in blocks:
        own = yaml.safe_load(block)
        if "repos" in own:  # of another program
            continue
        if {"rank": 4} in own.get("family", []) and len(own["family"]) == 2:  # an excerpt: the list goes on
            own["family"] += [{"rank": 288}]
        if "truths" in own:
            own["truths"] += [
                truth for truth in DEFAULT["truths"] if truth["name"] not in {one["name"] for one in own["truths"]}
            ]
        check(default(**own))


def test_the_table_of_the_library_names_every_room():
    table = PAGES["docs/architecture.md"].split("| room | holds |")[1].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    rooms = {relative(path).split("/")[1].removesuffix(".py") for path in SCRIPTS.glob("oversmoothing/**/*.py")}
    assert named == rooms - {"__init__"}


def imports(path):
    """Yield the names of the modules that a file imports, each in its parts."""
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (module.split(".") for module in modules)


@pytest.mark.parametrize("package", ["argmaxability", "bat", "forced"])
def test_what_others_could_install_alone_imports_arrays(package):
    library = ROOT / "scripts/oversmoothing"
    known = {*sys.stdlib_module_names, "numpy", "scipy", "numba", "tqdm"}
    for path in (library / package).rglob("*.py"):
        for top, *inner in imports(path):
            assert top in known or (top == "oversmoothing" and inner[0] in {package, "numerics"}), path


def test_a_study_imports_the_library_itself_and_what_it_needs_and_its_steps_nothing_of_the_plan():
    planning = {"plan", "checks", "pages", "schemas", "tracking"}
    for path in (*ROOT.glob("workflow/studies/*/*.py"), *ROOT.glob("scripts/**/*.py")):
        study = path.parent.name if "studies" in path.parts else None
        for room, *inner in imports(path):
            allowed = [study, *studies.needs(study), *studies.after(study)] if study else []
            assert room != "studies" or inner[0] in allowed, f"{path} imports {'.'.join([room, *inner])}"
            assert room not in planning or (study and path.name == "plan.py"), f"{path} imports {room}"
