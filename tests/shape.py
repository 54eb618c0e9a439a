"""Print how large and how entangled the project is, as a table in Markdown: `make shape`.

docs/architecture.md has the table and says how it counts. Code is what ends in `.py` or `.smk`, and the `Snakefile`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from oversmoothing.fingerprint import closure

ROOT = Path(__file__).resolve().parents[1]
STUDIES = "workflow/studies"
BEHIND = STUDIES, "workflow/pages"  # what reads tables, after the main one and its figure
TBAT = ("measure", "oversmoothing/measures/entries/tbat")
# Steps on the way of a setting; what they import is on its way, too.
OF_TAU = ("score", "score_table")  # to the main table
OF_RANK = (
    "train",
    "logits",
    "score",
    *TBAT,
    "window_means",
    "score_table",
    "oversmoothing_figure",
)  # to the main figure
MEASURING = re.compile(r"oversmoothing\.(bat|forced|argmaxability|models\.spectra)\b")
NO_MEASURING = (  # files that call them for another end
    "scripts/oversmoothing/samples/bat.py",  # a decoding, which draws what BAT leaves
    "workflow/studies/metric_cost/measure.py",  # which times them
)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
OTHERWISE = re.compile(r"(?!prepare|read_|count_|truncate)[a-z]")  # of functions there: what does not prepare or read


def main() -> None:
    """Print the table."""
    rows = [
        (
            "files on the way of `tau`",
            len(naming("tau", way(ROOT, OF_TAU))),
            "at most 20",
        ),
        (
            "files on the way of a rank",
            len(naming("rank", way(ROOT, OF_RANK))),
            "at most 35",
        ),
        ("rules (`rule` and `use rule`)", len(statements(ROOT, r"(?:use )?rule")), "at most 75"),
        ("of these `use rule`", len(statements(ROOT, "use rule")), "at most 8"),
        ("imports of what measures, outside `measures/`", len(measured_elsewhere(ROOT)), "none"),
        ("lines of the median study", round(median(study_lines(ROOT).values())), "at most 300"),
        ("lines of code in `scripts/` and `workflow/`", lines(code(ROOT, "scripts", "workflow")), "46,016 before"),
        ("lines of code in `tests/`", lines(code(ROOT, "tests")), "30,543 before"),
    ]
    print("| | now | goal |\n|:---|---:|:---|")
    print("\n".join(f"| {name} | {count:,} | {goal} |" for name, count, goal in rows))


def code(root: Path, *folders: str) -> list[Path]:
    """Return the files of code in folders of a project."""
    files = (path for folder in folders for path in (root / folder).rglob("*"))
    return sorted(path for path in files if path.suffix in (".py", ".smk") or path.name == "Snakefile")


def naming(word: str, files: list[Path]) -> list[Path]:
    """Return the files whose code has a word, as a whole word; comments and docstrings do not count."""
    whole = re.compile(rf"\b{word}\b")
    return [path for path in files if whole.search(_without_prose(path))]


def way(root: Path, steps: tuple[str, ...]) -> list[Path]:
    """Return the files among which a setting goes its way: the default config, the plan, steps and their imports."""
    roots = root / "scripts", root / "workflow"
    plan = [path for path in code(root, "workflow") if not _behind(root, path)]
    return [*_config(root), *plan, *sorted({path for step in steps for path in closure(f"{step}.py", *roots)})]


def statements(root: Path, kind: str) -> list[str]:
    """Return the statements of a kind, such as ``rule``, in all chapters; in a loop it is one."""
    begins = re.compile(rf"^\s*{kind} .*:$", re.MULTILINE)
    texts = (path.read_text(encoding="utf-8") for path in code(root, "workflow") if path.suffix != ".py")
    return [found for text in texts for found in begins.findall(text)]


def measured_elsewhere(root: Path) -> list[str]:
    """Return, as ``file: name``, what files import of the functions that measure, to measure outside `measures/`."""
    inside = re.compile(
        r"scripts/oversmoothing/(measures|bat|forced|argmaxability)/|scripts/oversmoothing/models/spectra"
    )
    paths = [(path.relative_to(root).as_posix(), path) for path in code(root, "scripts", "workflow")]
    return [
        f"{name}: {function}"
        for name, path in paths
        if path.suffix == ".py" and not inside.match(name) and name not in NO_MEASURING
        for function in measuring_functions(ast.parse(path.read_text(encoding="utf-8")))
    ]


def measuring_functions(tree: ast.Module) -> Iterator[str]:
    """Yield the functions that code imports from libraries of mathematics, but for those that prepare or read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and MEASURING.match(node.module or ""):
            yield from (f"{node.module}.{alias.name}" for alias in node.names if OTHERWISE.match(alias.name))


def study_lines(root: Path) -> dict[str, int]:
    """Return the lines of code of each study."""
    folders = sorted(path.parent for path in (root / STUDIES).glob("*/plan.py"))
    return {folder.name: lines(code(folder, ".")) for folder in folders}


def lines(files: list[Path]) -> int:
    """Return how many lines files have."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def _config(root: Path) -> list[Path]:
    return [root / "config/config.yaml", *sorted((root / "workflow/schemas").glob("*.yaml"))]


def _behind(root: Path, path: Path) -> bool:
    return any(path.is_relative_to(root / folder) for folder in BEHIND)


def _without_prose(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return re.sub(r"(^|\s)#.*", "", text)
    tree = ast.parse(text)  # has no comments
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


if __name__ == "__main__":
    main()
