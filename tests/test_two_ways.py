"""The two ways that docs/architecture.md draws through the code are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/architecture.md").read_text()
LINES = re.findall(r"^\| \[[\w/.]+\]\(\.\./([\w/.]+)\): (.+?) \|", PAGE, flags=re.MULTILINE)


def test_each_line_names_a_file_and_what_stands_in_it():
    assert len(LINES) > 30
    for file, names in LINES:
        text = (ROOT / file).read_text()
        for name in re.findall(r"`([\w.]+)`", names):
            assert all(re.search(rf"\b{part}\b", text) for part in name.split(".")), f"{file}: {name}"
