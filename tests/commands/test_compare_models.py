"""Two models side by side: what is refused before a run, what is printed after it, and the end by Ctrl-C."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from default_config import default
from hub_models import write_neox, write_token_model
from numba.core import event
from step_jobs import write_logits
from tokenizers import Tokenizer, normalizers

from checks.config import check
from oversmoothing.commands import compare_models, forecast, frontier, main, over_bytes, relay, two_models
from oversmoothing.commands import trial as trials
from oversmoothing.commands.arguments.compare_models import parser
from oversmoothing.commands.compare_models import report
from oversmoothing.commands.trial import Trial, trial
from oversmoothing.data.tokens.text import encode_bytes
from oversmoothing.data.windows import SCHEMA, TOKENS
from oversmoothing.models.source import tokenizer_of
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import write_table
from oversmoothing.store.sealed_json import write_sealed
from oversmoothing.tables.record import record

ROOT = Path(__file__).resolve().parents[2]


TRIAL = Trial(299, 4, "float32", 2e-7, 3e-6, 1.0, 1.0, None, None)
END = {"low": float("nan"), "high": float("nan")}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of models, each with a manifest as of one from a cache, and a text."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "t.txt").write_text("the water of the river. " * 200)  # without a blank line
    kinds = {"small": ("gpt2", {}), "large": ("llama", {}), "soft": ("gemma2", {}), "few": ("gpt2", {"rows": 290})}
    for name, (layout, more) in kinds.items():
        write_token_model(folder / name, layout, **more)
    write_neox(folder / "other")
    for name in ("lower", "studied"):
        shutil.copytree(folder / "small", folder / name)
    own = Tokenizer.from_file(str(folder / "lower/tokenizer.json"))
    own.normalizer = normalizers.Lowercase()
    own.save(str(folder / "lower/tokenizer.json"))
    (folder / "studied/config.json").unlink()
    (folder / "studied/model.safetensors").rename(folder / "studied/weights.safetensors")
    for name in (*kinds, "other"):
        unchecked = {"config.json": {"size": 0, "sha256": ""}}
        write_sealed(folder / f"{name}.json", {"files": unchecked, "folder": str(folder / name)})
    return folder


def test_what_cannot_be_compared_is_refused_before_anything_runs(models, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(two_models, "relay", lambda command: pytest.fail(f"it began: {command}"))
    lengths, eight = ("--prompt", 40, "--scored"), ("--prompt", 8, "--scored", 8)
    pdf, short = tmp_path / "a.pdf", tmp_path / "short.txt"
    pdf.write_bytes(b"%PDF-1.7")
    short.write_text("short")
    for message, command, model, *options in (
        ("other: its tokenizer is not that of the other model: of token 0, id 2 is b'!' in one", "frontier", "other"),
        ("other model: its tokens are the same, but at \"The water's", "frontier", "lower"),
        ("the largest id of its tokens is 300, but its head has only 290 rows", "compare-models", "few"),
        ("small: bos 301 is none of its 301 ids", "compare-models", "small", "--bos", 301),
        ("absent: no such folder (searched from", "compare-models", "absent"),
        ("it reads at most 63 tokens", "compare-models", "small", "--bos", 0, *lengths, 24),
        ("small: it reads at most 64 tokens, and --prompt and", "compare-models", "small", *lengths, 25),
        ("it reads at most 64 tokens, and --prompt and --scored are 65 bytes", "compare-models", "other", *lengths, 25),
        ("it reads at most 64 tokens, and --prompt and --scored are 512 bytes", "compare-models", "other"),
        ("a model that a study trained, which reads bytes; `head` and `size`", "compare-models", "studied"),
        ("--tbat 0 must be at least 1", "compare-models", "small", "--tbat", 0),
        (f"--text {tmp_path / 'none.txt'}: no such file", "frontier", "small", "--text", tmp_path / "none.txt"),
        ("a.pdf: a PDF: take out its text first", "frontier", "small", "--text", pdf),
        ("'<|end|>' stands nowhere in the text", "compare-models", "small", *eight, "--split-on", "<|end|>"),
        (
            "1,000 passages of 16 need 32,000 bytes, and it has 4,800: give a longer text, or lower --windows 1000 to",
            *("frontier", "small", *eight, "--windows", 1000),
        ),
        ("lower --prompt and --scored", "compare-models", "other", *eight, "--text", short),
    ):
        given = models / model, models / "large", "--text", models / "t.txt", "--results", tmp_path / "results"
        assert message in refused(command, *given, *options)
    assert not (tmp_path / "results").exists()


@pytest.fixture
def call(models, tmp_path, monkeypatch):
    """Run one of both commands; return its status, what Snakemake is told, which fails in the end, and the pair."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(two_models, "asset_name", lambda path, revision: path)

    def run(command, succeed, *options, pair=("small", "large"), local=True):
        told, known = [], [None]
        monkeypatch.setattr(two_models, "relay", lambda command: told.append(command) or len(told) > succeed)
        monkeypatch.setattr(two_models, "as_folder", lambda path: Path(path) if local else None)
        for module in (compare_models, over_bytes):
            monkeypatch.setattr(module, "begin", lambda asked, pair: known.append(pair) or TRIAL)
        given = [*(str(models / name) for name in pair), "--text", str(models / "t.txt"), "--prompt", "8"]
        status = main([command, *given, "--scored", "8", "--results", str(tmp_path / "results"), *options])
        if known[-1]:
            assert yaml.safe_load((tmp_path / "results/config.yaml").read_text()) == known[-1].config
            check(default(**known[-1].config))
        return status, [command[command.index("--configfile") + 2 :] for command in told], known[-1]

    return run


def test_both_commands_share_a_folder_and_neither_replaces_a_config(call, tmp_path, capsys):
    call("compare-models", 0)
    call("frontier", 0, "--temperatures", "1", "2", "--positions", "4")
    configs = {name: yaml.safe_load((tmp_path / "results" / name).read_text()) for name in two_models.CONFIGS.values()}
    assert configs["config-frontier.yaml"]["wanted"] == ["frontier"]
    asked = {"temperatures": [1.0, 2.0], "per_window": 4, "deltas": []}
    assert configs["config-frontier.yaml"]["frontier"] == asked
    assert "oversmoothing" in configs["config.yaml"]["wanted"]
    for shared in ("windows", "inference", "corpus", "tokens", "family", "truths", "results"):
        assert configs["config.yaml"][shared] == configs["config-frontier.yaml"][shared]
    assert configs["config.yaml"]["inference"] == {"precision": "float32"}
    mine = tmp_path / "results/config.yaml"
    mine.write_text("results: results/mine\nranks: [4]\n")
    assert call("compare-models", 3)[:2] == (1, [])
    line = f"Error: {mine}: not a config of this command, which this would replace; name another folder, such as --res"
    assert line in capsys.readouterr().err
    assert mine.read_text() == "results: results/mine\nranks: [4]\n"


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("model", {"model": "run2/final"}),  # in a folder of the same name
        ("truth", {"truth": "run1/final"}),
        ("text", {"--text": "in/t.txt"}),
        ("column", {"--column": "body"}),
        ("text to split on", {"--split-on": "river"}),
    ],
)
@pytest.mark.parametrize("command", ["compare-models", "frontier"])
def test_a_comparison_replaces_no_other_of_either_command(part, changed, command, tmp_path, monkeypatch, refused):
    for name in ("run1/final", "run2/final", "large", "in"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("t.txt", "in/t.txt"):
        (tmp_path / name).write_text("the water of the river")
    monkeypatch.chdir(ROOT)
    results = tmp_path / "results"
    given = {"model": "run1/final", "truth": "large", "--text": "t.txt", "--column": "text", "--split-on": "water"}

    def words(values):
        paths = {
            key: str(tmp_path / value) if key in ("model", "truth", "--text") else value
            for key, value in values.items()
        }
        options = [word for key in ("--text", "--column", "--split-on") for word in (key, paths[key])]
        return paths["model"], paths["truth"], *options, "--results", str(results)

    asked = parser().parse_args(words(given))
    results.mkdir()
    two_models.write_config(results / "config.yaml", two_models.study(asked, "final", "large", results))
    before = {path: path.read_bytes() for path in results.rglob("*")}
    two_models.check(asked, "compare-models")  # the same one goes on
    line = refused(command, *words(given | changed))
    held = {"column": "text", "text to split on": "water"}.get(part, tmp_path)
    assert f"a comparison whose {part} is {held}" in line
    assert f"which this would replace; name another folder, such as --results {results}-2" in line
    assert {path: path.read_bytes() for path in results.rglob("*")} == before
    (results / "config.yaml").rename(results / "mine.yaml")
    two_models.check(asked, "compare-models")
    (results / "corpus").mkdir()  # of a study, whose config lies elsewhere
    assert f"{results}: it holds results of another command, which" in refused(command, *words(given))


def test_the_folder_bears_the_names_of_models_and_text_and_says_what_is_compared():
    folder = {
        options: str(two_models.results_of(parser().parse_args(["a/small", "b/large", *options.split()])))
        for options in ("--text x/wiki.test.raw", "--text t.txt --bytes", "--text t.txt --results mine")
    }
    assert list(folder.values()) == [
        "results/small-beside-large-on-wiki.test",
        "results/small-beside-large-on-t-over-bytes",
        "mine",
    ]


def test_a_users_profile_of_snakemake_chooses_nothing_and_that_is_said(call, monkeypatch, capfd):
    """Neither do a `Snakefile`, nor `profiles/default`, in the folder of the project."""
    given = {"SNAKEMAKE_PROFILE": "cluster", "SNAKEMAKE_SLURM_PARTITION": "long"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    program = f"import os; print(os.environ.keys() & {set(given)}, 'PATH' in os.environ)"
    assert relay.relay([sys.executable, "-c", program]) == 0
    assert capfd.readouterr().err == "set() True\n"
    command = call("compare-models", 1)[2].snakemake
    assert "not used" in (said := capfd.readouterr().err)
    assert all(name in said for name in given)
    for option, value in (("--snakefile", "workflow/Snakefile"), ("--workflow-profile", "workflow/profiles/default")):
        assert command[command.index(option) + 1] == value


@pytest.mark.parametrize(
    ("named", "options", "paths", "cut"),
    [
        ("t.txt", [], ["t.txt"], None),
        ("my [1] texts", [], ["my [[]1] texts"], None),
        ("my*/*.csv", ["--column", "body"], ["my*/*.csv"], None),
        ("t.txt", ["--split-on", "river"], ["t.txt"], {"text": "river"}),
    ],
)
def test_the_text_may_be_a_folder_or_a_glob_and_is_measured_as_a_whole(
    call, models, tmp_path, named, options, paths, cut
):
    folder = tmp_path / "my [1] texts"
    folder.mkdir()
    for name in "ab":
        lines = "".join(f'"the water, {i} times",{i}\n' for i in range(200))
        (folder / f"{name}.csv").write_text(f"text,body\n{lines}" if "--column" not in options else f"body,id\n{lines}")
    (tmp_path / "t.txt").write_bytes((models / "t.txt").read_bytes())
    pair = call("compare-models", 2, "--text", str(tmp_path / named), "--column", "text", *options)[2]
    corpus = pair.config["corpus"]
    assert corpus["paths"] == [str(tmp_path / path) for path in paths]
    assert corpus["cut"] == cut
    assert corpus["splits"] == {"train": 0, "validation": 0, "evaluation": 1}


def test_names_of_special_tokens_are_told_of_over_bytes_too(call, tmp_path, capsys):
    """Over tokens, the job that draws the windows tells of them."""
    (tmp_path / "named.txt").write_text("the water</s>of the river\n" * 400)
    call("compare-models", 2, "--text", str(tmp_path / "named.txt"), "--bytes")
    assert "named.txt has '</s>' 400 times: names of special tokens, which" in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_bars_and_a_file_no_lists_of_jobs(call, monkeypatch, terminal):
    """With `--quiet` there are no bars."""
    monkeypatch.setattr(two_models.os, "isatty", lambda descriptor: terminal)
    pair = call("compare-models", 1)[2]
    assert ("--quiet" in pair.snakemake) != terminal


@pytest.fixture
def printed(call, monkeypatch):
    """Let the comparison succeed with two tables, without anything run."""
    tables = {
        "losses": record([row("small", "loss", 5.9, truth="large")]),
        "side_by_side": record([row("small", "kl", 0.2, quantile=0.5), row("small", "kl", 0.9, quantile=1) | END]),
    }
    for name in ("report", "noise", "clip"):
        monkeypatch.setattr(compare_models, name, lambda *given, name=name: f"{name}\x1b[2J.")
    monkeypatch.setattr(compare_models.side_by_side, "report", lambda *given: "beside it")
    monkeypatch.setattr(compare_models, "acceptance", lambda pair: tables["losses"])
    monkeypatch.setattr(compare_models, "read_record", lambda path: tables.get(path.stem, tables["losses"]))
    return call


def test_the_table_is_printed_before_what_may_fail(printed, tmp_path, capsys):
    assert printed("compare-models", 1)[0] == 1
    assert "report" not in capsys.readouterr().out
    code, (windows, tables, others), _ = printed("compare-models", 2)
    assert code == 0  # although no picture could be drawn
    assert "All that is printed above is complete." in (out := capsys.readouterr().out)
    assert out.index("beside it") < out.index("Ctrl-C may end them: the same") < out.index("some could not be made")
    assert windows == ["--", "assets", f"{tmp_path}/results/windows.parquet"]
    assert tables[1:] == [f"{tmp_path}/results/tables/{table}.csv" for table in compare_models.PRINTED]
    assert others == ["--", "all"]
    assert "report\\x1b[2J.\n\nbeside it" in out
    assert "some could not be made, and the log says why; what is printed above is complete" in " ".join(out.split())


def test_json_has_the_printed_tables_without_what_is_missing(printed, models, tmp_path, capfd):
    path = tmp_path / "out.json"
    assert printed("compare-models", 3, "--json", str(path))[0] == 0
    found = json.loads(path.read_text())
    median, largest = found["tables"]["side_by_side"]
    assert largest == {"model": "small", "measure": "kl", "quantile": 1.0, "value": 0.9, "n": 144}
    assert median == largest | {"quantile": 0.5, "value": 0.2, "low": median["low"], "high": median["high"]}
    assert found["tables"].keys() == {*compare_models.PRINTED, "acceptance"}
    assert found["noise"] == {"mean": 2e-7, "largest": 3e-6, "precision": "float32"}
    assert (found["model"]["name"], found["truth"]["hub"]) == ("small", str(models / "large"))
    assert (found["unit"], found["windows"]["scored"]) == ("token", 8)
    assert f"Wrote {path}" in capfd.readouterr().out
    assert printed("compare-models", 3, "--json", str(path))[0] == 0  # an earlier one is replaced
    path.write_text("{}")
    assert printed("compare-models", 3, "--json", str(path))[:2] == (1, [])
    assert f"Error: --json {path}: no earlier output of this command, so it is not replaced" in capfd.readouterr().err
    assert printed("compare-models", 3, "--json", "/dev/stdout")[0] == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["unit"] == "token"
    assert "beside it" in err


def test_ctrl_c_after_the_table_takes_no_json_away(printed, monkeypatch, tmp_path):
    def interrupted(command):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_models, "make", lambda *_: monkeypatch.setattr(two_models, "relay", interrupted))
    assert printed("compare-models", 1, "--json", str(tmp_path / "out.json"))[0] == 130
    assert json.loads((tmp_path / "out.json").read_text())["unit"] == "token"


def row(model, measure, value, n=144, **more):
    interval = {"low": value - 0.01, "high": value + 0.01}
    return {"model": model, "measure": measure, "value": value, **interval, "n": n, **more}


def test_losses_stand_beside_the_scores():
    scores = record([row("small", "tto", 0.25, truth="large"), row("small", "tbat", 0.5, n=6)])
    means = {"small": {"loss": 5.9, "loss_per_byte": 3.4}, "large": {"loss": 4.1, "loss_per_byte": 2.6}}
    accepted = {"pure": 0.6, "temperature": 0.7}
    tables = {
        "losses": record(row(model, *mean) for model, losses in means.items() for mean in losses.items()),
        "oversmoothing": scores,
        "forced": record([row("small", "forced", 0.02, n=6), row("small", "share", 0.1, n=6)]),
        "acceptance": record(row("small", "acceptance", p, decoding=name) for name, p in accepted.items()),
    }
    decodings = [{"name": "pure"}, {"name": "temperature", "temperature": 0.75}]
    pair = two_models.Pair("small", "large", (), Path(), {"decodings": decodings}, None, [])
    text = report(tables, pair)
    names, _, *lines = [re.split(r" {2,}", line.strip()) for line in text.partition("\n\n")[0].splitlines()]
    assert names == ["small", "large"]
    assert {line[0]: line[1:] for line in lines} == {
        "loss, nats per token ↓": ["5.9000 [5.8900, 5.9100]", "4.1000 [4.0900, 4.1100]"],
        "loss, nats per byte ↓": ["3.4000 [3.3900, 3.4100]", "2.6000 [2.5900, 2.6100]"],
        "TTO ↓": ["0.2500 [0.2400, 0.2600]"],
        "TBAT ↓": ["0.5000 [0.4900, 0.5100]"],
        "KL forced by its head ↓": ["0.0200 [0.0100, 0.0300]"],
        "share of KL forced ↓": ["0.1000 [0.0900, 0.1100]"],
        "acceptance, pure ↑": ["0.6000 [0.5900, 0.6100]"],
        "acceptance, T = 0.75 ↑": ["0.7000 [0.6900, 0.7100]"],
    }
    assert "nan" not in report({name: table.assign(low=float("nan")) for name, table in tables.items()}, pair)
    assert "over 144 positions (TBAT: 6; forced: 6)" in " ".join(text.split())
    assert "beside a higher loss they are no evidence of a softmax bottleneck" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    bracketed = report(tables | {"oversmoothing": scores.assign(bracket=0.02)}, pair)
    assert "the middle of a bracket that is 0.02 wide on average" in " ".join(bracketed.split())
    del tables["forced"]
    of_truth = scores[scores.measure != "tbat"]
    capped = report(tables | {"oversmoothing": of_truth}, pair._replace(cap=30.0))
    rows, _, note = capped.partition("\n\n")
    assert "TTO" in rows
    assert not {"TBAT", "forced"} & set(rows.split())
    why = "they need logits that are linear in what enters the head, and those of small are capped at 30. Acceptance"
    assert f"TBAT and the part of KL that its head forces are left out, because {why}" in " ".join(note.split())


def test_gains_of_a_frontier_stand_beside_areas_in_80_columns():
    keys = {"model": "small", "temperature": 1.0, "order": "temperature first"}
    areas = {"min-p": 0.7, "top-k": 0.6, "oracle": 0.9}
    rows = [{**keys, "decoding": name, "measure": "area", "value": value, "n": 64} for name, value in areas.items()]
    gain = {"decoding": "top-k", "measure": "area", "less": "min-p", "value": -0.1, "p": 0.004}
    rows.append({**keys, **gain, "low": -0.12, "high": -0.08})
    table = record(rows)
    text = frontier.report(table, "small", "large")
    assert "top-k     0.6000  -0.1000 [-0.1200, -0.0800]  0.004" in text
    assert "beyond min-p" in text
    assert "64 positions" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    told = " ".join(text.split())
    assert "The oracle keeps the truth's nucleus" in told
    assert "over all leaks from 0 to that of the uncut model at temperature 1. Beyond min-p: the difference" in told
    assert "Hindsight" not in told
    assert "*" not in told
    alone = {
        "decoding": "p-less",
        "measure": "kept",
        "less": "min-p",
        "value": 0.01,
        "low": 0.0,
        "high": 0.02,
        "p": 1.0,
    }
    bounds = [{"decoding": name, "measure": "area", "value": 0.5, "n": 64} for name in ("p-less", "hindsight")]
    text = frontier.report(record([*rows, *({**keys, **row} for row in (*bounds, alone))]), "small", "large")
    told = " ".join(text.split())
    assert "p-less* 0.5000 +0.0100 [+0.0000, +0.0200]" in told
    assert "*: a method with one setting; the difference is taken at the leak of that setting" in told
    assert "Hindsight keeps the model's likeliest tokens" in told
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in frontier.report(table.assign(low=float("nan"), high=float("nan")), "small", "large")


DECODINGS = [
    {"name": "pure"},
    {"name": "greedy"},
    {"name": "top-k", "k": 3},
    {"name": "top-p", "p": 0.7},
    {"name": "temperature", "temperature": 0.6},
]


def test_acceptance_is_the_share_of_accepted_drafts():
    """Drafts are drawn and accepted as in Algorithm 1 of Leviathan et al. (2023)."""
    decode = decoder({"name": "top-p", "p": 0.7})
    draft, truth = (softmax(2 * logits) for logits in np.random.default_rng(1).normal(size=(2, 4, 9)))
    found = compare_models.accepted(draft, truth, decode)
    draw = np.random.default_rng(2)
    for rate, q, p in zip(found, decode(draft), decode(truth), strict=True):
        x = draw.choice(len(q), size=40_000, p=q)
        assert rate == pytest.approx((draw.random(40_000) < np.minimum(1, p[x] / q[x])).mean(), abs=0.01)


def test_acceptance_is_a_mean_over_positions_with_an_interval_over_passages(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    (tmp_path / "logits").mkdir()
    logits = {name: np.random.default_rng(seed).normal(size=(3, 5, 9)) for seed, name in enumerate(("small", "large"))}
    for name, rows in logits.items():
        write_logits(tmp_path / f"logits/{name}.parquet", dict(enumerate(rows)))
    folders, config = (tmp_path, tmp_path), {"decodings": DECODINGS}
    found = compare_models.acceptance(two_models.Pair("small", "large", folders, tmp_path, config, None, []))
    draft, truth = (softmax(rows.reshape(15, 9).astype(np.float32)) for rows in logits.values())
    assert found.decoding.tolist() == [entry["name"] for entry in DECODINGS]
    for row, entry in zip(found.to_dict("records"), DECODINGS, strict=True):
        expected = compare_models.accepted(draft, truth, decoder(entry)).mean()
        assert (row["value"], row["n"]) == (pytest.approx(expected, abs=1e-6), 15)
        assert row["low"] <= row["value"] <= row["high"]


def test_the_options_are_in_the_config(tmp_path):
    """The decodings are the default's otherwise, so that nothing is computed again without an option."""
    common = ["small", "large", "--text", "t.txt"]

    def config(*options):
        asked = parser().parse_args([*common, *options])
        return two_models.study(asked, "small", "large", tmp_path) | compare_models.scored(asked)

    default = yaml.safe_load((ROOT / "config/config.yaml").read_text())["decodings"]
    assert config()["decodings"] == default
    assert config()["metrics"]["forced"] == {"per_window": 1}
    asked = config("--temperature", "0.7", "--top-p", "0.95", "--forced", "3")
    assert asked["decodings"][-2:] == [{"name": "top-p", "p": 0.95}, {"name": "temperature", "temperature": 0.7}]
    assert asked["metrics"]["forced"] == {"per_window": 3}
    for bos, more in (("7", {"bos": 7}), ("1,2", {"bos": [1, 2]}), ("none", {"bos": None}), ("auto", {})):
        asked = config("--bos", bos)
        assert asked["family"] == [{"name": "small", "hub": "small", **more}]
        assert asked["truths"] == [{"name": "large", "hub": "large", **more}]
    for wrong in ("x", "1,", "1, 2"):
        with pytest.raises(SystemExit):
            config("--bos", wrong)


NOISY = """
import pathlib, signal, sys, time
def end(*_):
    print("noise", flush=True)
    time.sleep(0.5)
    pathlib.Path("ended").touch()
    sys.exit(1)
signal.signal(signal.SIGINT, end)
print("ready", flush=True)
time.sleep(60)
"""
CALLING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background job ignores
from oversmoothing import commands
from oversmoothing.commands import needs, relay
needs.main = lambda arguments: relay.relay([sys.executable, "-c", sys.argv[1]])
sys.exit(commands.main(["needs"]))
"""


def test_ctrl_c_is_one_line_when_the_program_has_ended_its_work(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    command = [sys.executable, "-c", CALLING, NOISY]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert process.stderr.read() == "\nInterrupted: the same command goes on from here.\n"
    assert process.returncode == 130
    assert (tmp_path / "ended").exists()


def test_a_trial_times_both_models_and_finds_the_noise_of_bf16(models, tmp_path):
    """KL of the model beside itself is none in float32, and far above rounding in bf16."""
    tokenizer, vocabulary = tokenizer_of(models / "large")
    write_table(tmp_path / "tokens/vocabulary.parquet", vocabulary.table(), {})
    text = (b"the water of the", b" river flows")
    tokens = tuple(encode_bytes(tokenizer, vocabulary, part) for part in text)
    columns = zip(pa.schema([*SCHEMA, *TOKENS]), (0, 0, *text, *tokens), strict=True)
    window = {field.name: pa.array([value], field.type) for field, value in columns}
    write_table(tmp_path / "windows.parquet", pa.table(window), {})
    folders = models / "small", models / "large"

    def tried(precision, cap):
        config = {"decodings": [{"name": "pure"}, {"name": "greedy"}], "metrics": {"tbat": {"mass_tolerance": 1e-3}}}
        names = Namespace(model="small", truth="large", bos="auto", device="cpu", precision=precision, cores=1)
        return trial(names, two_models.Pair("small", "large", folders, tmp_path, config, cap, []))

    exact, rounded = tried("float32", None), tried("bf16", 30.0)
    assert (exact.tokens, exact.passages) == (299, 1)
    assert min(exact.passage, exact.scores, exact.tbat, exact.forced) > 0
    assert exact.largest < 1e-9 < 1e-7 < rounded.noise <= rounded.largest < 0.1
    assert (rounded.tbat, rounded.forced, rounded.precision) == (None, None, "bf16")


def test_a_forecast_has_no_compiling_and_every_start(monkeypatch):
    """A first call that compiles for an hour, within and beside a minute of work that is no compiling."""
    now = [0.0]
    monkeypatch.setattr(trials, "perf_counter", lambda: now[0])

    def work():
        now[0] += 50
        with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
            now[0] += 3600
        now[0] += 10

    assert trials._timed(work) == 60
    starts = forecast.Starts(jobs=30, snakemake=10, job=8)
    text = " ".join(forecast.forecast({"both models": 60}, starts, 2, "the first passage").split())
    assert text.startswith("This takes about 4 min here, judged by the first passage: about 60 s for both models; ")
    assert text.endswith("about 3 min for 30 jobs to start, with tables and figures.")
    said = "\nJob stats:\njob      count\n-----  -------\ntable       21\ntotal       22\n"
    program = f"import sys; print({said!r} if sys.argv[1:] == ['--dry-run', '--quiet', 'rules'] else '')"
    pair = two_models.Pair("small", "large", (), Path(), {}, None, [sys.executable, "-c", program])
    assert forecast.count_jobs(pair).jobs == 22
    assert forecast.count_jobs(pair._replace(snakemake=[sys.executable, "-c", "print('Nothing to be done')"])).jobs == 0


@pytest.mark.parametrize("local", [True, False])
def test_models_of_different_tokenizers_are_byte_views(call, models, tmp_path, local):
    """Of models that are not fetched yet it is known afterwards."""
    _, told, pair = call("compare-models", 2 - local, "--bos", "0", pair=("small", "other"), local=local)
    config = pair.config
    assert pair.why == "because the tokenizers differ (of token 0, id 0 is b'!' in one and id 2 is b'!' in the other)"
    view = {"layout": "tokens", "context": 0, "bos": 0}
    assert config["tokens"] == "bytes"
    assert config["family"] == [{"name": "small", "hub": str(models / "small"), **view}]
    assert config["truths"] == [{"name": "other", "hub": str(models / "other"), **view}]
    assert config["windows"] == {"count": 100, "prompt": 8, "scored": 8}
    assert {"oversmoothing", "losses", "bytes", "decodings"} <= set(config["wanted"])
    assert {"tbat", "forced", "argmaxability", "effective_rank", "samples"}.isdisjoint(config["wanted"])
    tables = ("losses", "oversmoothing", "side_by_side")
    assert told[-1] == ["--", *(f"{tmp_path}/results/tables/{table}.csv" for table in tables)]


def test_bytes_can_be_asked_for_and_lengths_have_their_own_defaults(call):
    tokens, of_bytes = (call("compare-models", 1, *more)[2] for more in ((), ("--bytes",)))
    assert (tokens.why, of_bytes.why) == (None, "as --bytes asks")
    assert tokens.config["tokens"] != of_bytes.config["tokens"] == "bytes"
    asked = parser().parse_args(["small", "large", "--text", "t.txt"])
    for why, length in ((None, 64), ("it is asked", 256)):
        windows = two_models.study(asked, "small", "large", Path("results"), why)["windows"]
        assert windows == {"count": 100, "prompt": length, "scored": length}


def test_the_config_of_a_capped_model_leaves_out_what_needs_linear_logits(call, models, tmp_path):
    """The model's cap counts, known before anything is fetched or not; the truth's does not."""
    plain = call("compare-models", 1, pair=("large", "soft"))[2]
    assert plain.cap is None
    assert "frontier" not in plain.config
    assert "capped" not in plain.config["family"][0]
    shutil.rmtree(tmp_path / "results")
    for local in (True, False):
        pair = call("compare-models", 2 - local, pair=("soft", "large"), local=local)[2]
        assert pair.cap == 30.0
        assert [table for table in plain.config["wanted"] if table not in pair.config["wanted"]] == ["forced", "tbat"]
        assert pair.config["family"] == [{"name": "soft", "hub": str(models / "soft"), "capped": True}]
        assert pair.config["frontier"] == {"deltas": []}


def test_a_duration_in_words():
    words = {3: "a moment", 12: "about 10 s", 89: "about 90 s", 91: "about 2 min", 9000: "about 2.5 h"}
    assert {seconds: forecast.roughly(seconds) for seconds in words} == words
