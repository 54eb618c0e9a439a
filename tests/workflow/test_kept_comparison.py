"""The config that `oversmoothing compare-models --keep` writes, run by the workflow: the same numbers."""

import json

import pandas as pd
import pytest
from hub_models import write_neox, write_token_model
from study import copy_project

CALL = "import sys; from oversmoothing.commands import main; sys.exit(main(sys.argv[1:]))"
COMPARE = ("compare-models", "./small", "./large", "--text", "t.txt", "--keep", "kept", "--json", "out.json")
SIZES = ("--windows", "3", "--prompt", "8", "--scored", "12", "--device", "cpu")
TEXT = "The water of the river flows past the houses. The people of the town {} their letters number {}."
KEYS = ["model", "measure", "quantile", "decoding"]


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "tables"), [("llama", 4), ("gemma2", 4), (None, 3)])
def test_the_workflow_goes_on_with_the_same_numbers(built, tmp_path, layout, tables):
    """Gemma 2 is a truth whose logits are capped; without a layout the tokenizers differ, and bytes are compared."""
    project = copy_project(tmp_path / "project", built)
    folder = project.folder
    write_token_model(folder / "small", "gpt2")
    write_token_model(folder / "large", layout) if layout else write_neox(folder / "large")
    text = [f"{TEXT.format('read' if i % 3 else 'write', i)} {'Some of them'[: i % 12]} stay." for i in range(300)]
    (folder / "t.txt").write_text("\n\n".join(text))
    project.python("-c", CALL, *COMPARE, *SIZES, path="scripts")
    ours = json.loads((folder / "out.json").read_text())["tables"]
    names = [name for name in ("losses", "oversmoothing", "side_by_side", "forced") if name in ours]
    assert len(names) == tables
    wanted = [f"{folder}/kept/results/tables/{name}.csv" for name in names]
    project.python("-m", "snakemake", "--cores", "2", "--configfile", "kept/config.yaml", "--", *wanted)
    for name, path in zip(names, wanted, strict=True):
        theirs = pd.read_csv(path)
        here = pd.DataFrame(ours[name]).reindex(columns=[*KEYS, "value", "low", "high"])
        both = theirs.reindex(columns=[*KEYS, "value", "low", "high"]).merge(here, on=KEYS, suffixes=("", "_ours"))
        assert len(both) >= {"losses": 4, "oversmoothing": 4, "side_by_side": 28, "forced": 4}[name]
        for column in ("value", "low", "high"):
            pd.testing.assert_series_equal(
                both[column], both[f"{column}_ours"], rtol=1e-5, atol=1e-9, check_names=False
            )
