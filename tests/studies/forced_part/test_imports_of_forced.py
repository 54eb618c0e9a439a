"""Which modules of the library the steps depend on: each more is more that computes again after an edit."""

import pytest
from test_public_surface import HEADS, modules_of


@pytest.mark.parametrize(
    ("step", "package", "modules"),
    [
        ("measure", "forced", f"{HEADS} ellipsoid face sphere"),
        ("table", "forced", "__init__ face"),
        ("measure", "bat", ""),
    ],
)
def test_a_step_depends_on_what_it_imports_alone(step, package, modules):
    assert modules_of(f"studies/forced_part/{step}.py", package) == sorted(modules.split())
