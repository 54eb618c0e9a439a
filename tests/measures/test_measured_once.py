"""What `bat`, `forced` and `argmaxability` compute of a model is asked for by its measure, and nowhere else."""

import ast
from pathlib import Path

from kept_runs import ROOT

LIBRARIES = ("bat", "forced", "argmaxability")
PACKAGES = tuple(f"oversmoothing.{name}" for name in LIBRARIES)
WITHIN = tuple(f"scripts/oversmoothing/{name}/" for name in ("measures", *LIBRARIES))
TIMED = {"Basis", "prepare", "reject_set", "reject_set_by_linear_programs"}
ELSEWHERE = {  # what else calls them, and why
    "scripts/oversmoothing/commands/one_head/measure.py": {"Basis"},  # the type of an argument
    "scripts/oversmoothing/samples/bat.py": {"prepare", "reject_set"},  # a decoding draws what BAT leaves
    "workflow/studies/cut_frontier/measure.py": {"Basis"},  # the type of an argument
    "workflow/studies/metric_cost/measure.py": TIMED,  # which it times
    "workflow/studies/real_head/sphere.py": {"BehindNorm"},  # whose norm lies in a file of its own
}


def called(path: Path) -> set[str]:
    """Functions and classes that a module imports from the libraries; constants measure nothing."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("oversmoothing."):
            parts = node.module.split(".")
            if parts[1] in LIBRARIES:
                names |= {alias.name for alias in node.names if not alias.name.isupper()}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith(PACKAGES)}
    return names


def test_who_calls_the_libraries_is_a_measure_or_says_why_not():
    found = {}
    for path in sorted([*ROOT.glob("scripts/**/*.py"), *ROOT.glob("workflow/**/*.py")]):
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(WITHIN) and (names := called(path)):
            found[place] = names
    assert found == ELSEWHERE
