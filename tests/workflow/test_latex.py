"""Every LaTeX table compiles with the packages that it names, and fits on the line."""

import re
import shutil
import subprocess

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex here (Debian: texlive-latex-extra)"),
]


def test_every_table_compiles_and_fits_on_the_line(everything, tmp_path):
    tables = sorted((everything.folder / "results/tables").glob("*.tex"))
    assert len(tables) > 15
    packages = dict.fromkeys(line for path in tables for line in re.findall("(?m)^% needs (.*)$", path.read_text()))
    body = "\n\\clearpage\n".join(path.read_text() for path in tables)
    head = ["\\documentclass{article}", "\\usepackage[T1]{fontenc}", *packages, "\\begin{document}"]
    (tmp_path / "all.tex").write_text("\n".join([*head, body, "\\end{document}"]))
    for _ in range(2):  # the second time with the numbers of the labels
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert done.returncode == 0, done.stdout[-3000:]
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert re.findall(r"Overfull \\hbox.*", log) == []
    assert "multiply defined" not in log
    assert "Float too large" not in log
