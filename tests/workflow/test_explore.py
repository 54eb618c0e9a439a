"""The notebook that explores the results runs on those of a real, tiny study."""

import json

import matplotlib as mpl
import pytest
from study import ROOT

NOTEBOOK = json.loads((ROOT / "docs/explore.ipynb").read_text())


@pytest.mark.slow
def test_its_cells_run_in_order_and_each_question_has_a_plot(everything, monkeypatch):
    monkeypatch.chdir(everything.folder)
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    names = {}
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    questions = [cell for cell in NOTEBOOK["cells"] if "".join(cell["source"]).startswith("## ")]
    assert len(questions) == 3
    drawn = [len(plt.figure(number).axes[0].lines) for number in plt.get_fignums()]
    assert drawn == 3 * [len(names["family"])] == [2, 2, 2]


def test_its_pictures_are_in_it():
    code = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert [sum("image/png" in output["data"] for output in cell["outputs"]) for cell in code] == [0, 1, 1, 1]
