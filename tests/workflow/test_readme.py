"""What the README says works, works."""

import ast
import re
import subprocess
import sys

import pytest
from study import ROOT

README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_its_python_runs_on_real_results(study, code):
    done = subprocess.run([sys.executable, "-c", code], cwd=study.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert any(word in done.stdout for word in ("bn", "validation_loss", "(1000, 256) 0.101"))


def test_its_links_and_paths_exist():
    paths = re.findall(r"\]\((?!http)([^)]+)\)", README) + re.findall(r"`((?:config|envs|benchmarks)/[\w./]+)`", README)
    assert len(paths) > 5
    for path in paths:
        assert (ROOT / path.partition("#")[0]).exists(), path


def test_every_table_is_written_in_the_formats_it_says():
    tables = {}
    for rules in (ROOT / "workflow/rules").glob("*.smk"):
        tables |= dict(re.findall(r'\*\*table\(\s*"(\w+)"(.*?)\n? *\),\n', rules.read_text(), flags=re.DOTALL))
    assert len(tables) > 15
    assert [name for name, options in tables.items() if "latex=False" in options] == ["samples"]
    assert "CSV (tidy), Markdown, HTML and LaTeX under `results/tables/` (`samples`: no LaTeX)" in README


def test_its_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"(?:`|[$] )make ([a-z-]+)", README)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_modules_import_only_from_their_row_of_the_library_and_above():
    rows = README.split("| module | holds |\n|---|---|\n")[1].split("\n\n")[0].splitlines()
    floor = {name: i for i, row in enumerate(rows) for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    library = ROOT / "scripts/oversmoothing"
    files = {path: path.relative_to(library).parts[0].removesuffix(".py") for path in library.rglob("*.py")}
    assert set(files.values()) - {"__init__"} == set(floor)
    for path, name in files.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("oversmoothing."):
                imported = node.module.split(".")[1]
                assert floor[imported] <= floor[name], f"{path} imports {imported}"
