"""The command `oversmoothing compare-models` run for real, on two checkpoints of this machine."""

import json
import math
import re

import pytest
from hub_models import write_neox, write_token_model
from study import copy_project

CALL = "import sys; from oversmoothing.commands import main; sys.exit(main(sys.argv[1:]))"
COMPARE = ("compare-models", "./small", "./large", "--text", "t.txt")
SIZES = ("--windows", "3", "--prompt", "8", "--scored", "12", "--device", "cpu")
TEXT = "The water of the river flows past the houses. The people of the town {} their letters number {}."


@pytest.mark.slow
@pytest.mark.parametrize("layouts", [("gpt2", "llama"), ("gemma2", "llama"), ("llama", "gemma2")])
def test_from_two_folders_to_the_printed_table(built, tmp_path, layouts):
    """A Gemma 2 caps its logits: as the model it has no values that need linear ones, as the truth all are there."""
    project = copy_project(tmp_path / "project", built)
    folder = project.folder
    for name, layout in zip(("small", "large"), layouts, strict=True):
        write_token_model(folder / name, layout)
    (folder / "t.txt").write_text("\n\n".join(TEXT.format("read" if i % 3 else "write", i) for i in range(300)))
    more = ("--temperature", "0.5", "--json", "out.json")
    done = project.python("-c", CALL, *COMPARE, *SIZES, *more, path="scripts")
    assert "Loading script code" not in done.stdout + done.stderr
    assert "SNAKEMAKE" not in done.stdout + done.stderr
    assert re.search(r"for [1-9]\d jobs to start, with tables and figures", " ".join(done.stdout.split()))
    rows = [line.split("  ")[0].strip() for line in done.stdout.splitlines()]
    assert {"loss, nats per token ↓", "loss, nats per byte ↓", "TTO ↓", "KL (nats) ↓"} <= set(rows)
    assert {"acceptance, pure ↑", "acceptance, T = 0.5 ↑"} <= set(rows)
    assert {"perplexity ratio ↓", "same top token ↑", "99.9 %", "median", "RMS"} <= set(rows)
    written = json.loads((folder / "out.json").read_text())["tables"]
    kl = [row for row in written["side_by_side"] if row["measure"] == "kl"]
    levels = {row["quantile"]: row["value"] for row in kl if "quantile" in row}
    assert 0 <= levels[0] <= levels[0.5] <= levels[1]
    assert (folder / "results/small-beside-large-on-t/tables/side_by_side.html").is_file()
    of_linear = {"TBAT ↓", "KL forced by its head ↓", "share of KL forced ↓"}
    assert of_linear & set(rows) == (set() if layouts[0] == "gemma2" else of_linear)
    said = "and those of small are capped at 30." in " ".join(done.stdout.split())
    assert said == (layouts[0] == "gemma2")
    results = folder / "results/small-beside-large-on-t"
    assert (results / "report.html").stat().st_size > 100_000
    for table in ("oversmoothing", "losses"):
        assert "(Table" not in (results / f"tables/{table}.md").read_text().splitlines()[0]


@pytest.mark.slow
def test_two_tokenizers_from_two_folders_to_the_printed_table(built, tmp_path):
    project = copy_project(tmp_path / "project", built)
    folder = project.folder
    write_token_model(folder / "small", "llama")
    write_neox(folder / "large")
    text = [f"{TEXT.format('read' if i % 3 else 'write', i)} {'Some of them'[: i % 12]} stay." for i in range(300)]
    (folder / "t.txt").write_text("\n\n".join(text))
    done = project.python("-c", CALL, *COMPARE, *SIZES, path="scripts")
    rows = [re.split(r" {2,}", line.strip()) for line in done.stdout.splitlines()]
    cells = {row[0]: row[1:] for row in rows}
    for measure in ("loss, nats per byte ↓", "loss, bits per byte ↓", "dropped"):
        assert len(cells[measure]) == 2
    for measure in ("TTO ↓", "NSMD ↓", "TV ↓", "KL (nats) ↓"):
        assert len(cells[measure]) == 1
    nats, bits = (float(cells[f"loss, {unit} per byte ↓"][0].split()[0]) for unit in ("nats", "bits"))
    assert bits == pytest.approx(nats / math.log(2), abs=2e-4)
    assert {"same top byte ↑", "99.9 %", "RMS"} <= cells.keys()
    said = " ".join(done.stdout.split())
    assert "judged by the first passage" in said
    assert "Over bytes, because the tokenizers differ" in said
    assert "left out: a distribution of bytes is no softmax of few dimensions" in said
    results = folder / "results/small-beside-large-on-t"
    made = {path.stem for path in (results / "tables").glob("*.csv")}
    assert made >= {"losses", "oversmoothing", "bytes", "decodings", "entropy_difference"}
    assert made.isdisjoint({"forced", "acceptance", "tbat", "argmaxability", "samples"})
    assert (results / "report.html").stat().st_size > 100_000
