"""Two models beside each other in one process: what is refused, what is printed and written, and the numbers."""

import gc
import json
import math
import re
import shutil
import weakref

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from default_config import default
from gguf_models import write_small_gguf
from hub_models import files_of, write_neox, write_token_model
from jsonschema import Draft202012Validator
from local_hub import Repo, local_hub, point_to
from scipy.special import log_softmax
from shown import Shown
from tokenizers import Tokenizer, normalizers
from transformers import AutoModelForCausalLM

import oversmoothing
from checks.config import check
from oversmoothing.commands import frontier, main
from oversmoothing.commands.arguments.compare_models import parse
from oversmoothing.commands.schemas.compare_models import SCHEMA
from oversmoothing.comparison import compare as comparing
from oversmoothing.comparison import report as reporting
from oversmoothing.comparison import stream
from oversmoothing.comparison.compare import TABLES, run
from oversmoothing.comparison.kept import Kept, study
from oversmoothing.comparison.page import Page
from oversmoothing.comparison.pair import find_pair
from oversmoothing.comparison.passages import draw_passages
from oversmoothing.comparison.settings import Settings
from oversmoothing.data.windows import read_windows
from oversmoothing.models.device import setup
from oversmoothing.models.logit_files import read_logits
from oversmoothing.store.parquet import read_table
from oversmoothing.tables.record import chosen, record

EIGHT = {"prompt": 8, "scored": 8}
SIZES = ("--windows", "3", "--prompt", "8", "--scored", "8", "--device", "cpu")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder of models and a text."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "t.txt").write_text("the water of the river flows, they read. " * 150)  # without a blank line
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
    return folder


def settings(models, model="small", truth="large", **more):
    more = {"text": models / "t.txt", "windows": 3, **EIGHT, "device": "cpu"} | more
    return Settings(str(models / model), str(models / truth), **more)


@pytest.fixture(scope="module")
def compared(models):
    return run(settings(models))


@pytest.fixture(scope="module")
def of_bytes(models):
    return run(settings(models, truth="other"))


def test_what_cannot_be_compared_is_refused_before_anything_runs(models, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    for module in (comparing, stream):
        monkeypatch.setattr(module, "open_stream", lambda *_: pytest.fail("it began"))
    lengths, eight = ("--prompt", 40, "--scored"), ("--prompt", 8, "--scored", 8)
    pdf, short, held = tmp_path / "a.pdf", tmp_path / "short.txt", tmp_path / "held"
    pdf.write_bytes(b"%PDF-1.7")
    short.write_text("short")
    held.mkdir()
    (held / "mine").touch()
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
            "1,000 passages of 16 need 32,000 bytes, and it has 6,150: give a longer text, or lower --windows 1000 to",
            *("frontier", "small", *eight, "--windows", 1000),
        ),
        ("lower --prompt and --scored", "compare-models", "other", *eight, "--text", short),
        (f"--keep {held}: it is there and not empty; name a new folder", "compare-models", "small", "--keep", held),
        ("--csv none/a.csv: not a file in an existing folder", "frontier", "small", "--csv", "none/a.csv"),
    ):
        assert message in refused(command, models / model, models / "large", "--text", models / "t.txt", *options)
    assert {path.name for path in tmp_path.iterdir()} == {"a.pdf", "short.txt", "held"}


def test_names_in_tables_are_the_last_parts_and_differ():
    assert Settings("a/small", "./models/lar ge", "t.txt").names == ("small", "lar-ge")
    assert Settings("run1/final", "run2/final", "t.txt").names == ("final-model", "final-truth")


def logits_of(folder, tokens, first):
    """Return logits of a model by transformers alone, of the token behind each from `first` - 1 on, float64."""
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        every = model(input_ids=torch.tensor(tokens)).logits
    return every[:, first - 1 : -1].double().numpy()


def test_the_numbers_are_those_of_plain_numpy(models, compared):
    """From transformers' logits: losses, TTO, KL in both directions, dp and acceptance, as means over positions."""
    pair = find_pair(settings(models))
    windows = draw_passages(pair)
    ids = pair.tokens[1].ids
    tokens = np.array([ids[a + b] for a, b in zip(*(windows[f"{n}_tokens"].to_pylist() for n in EIGHT), strict=True)])
    q, p = (
        np.exp(log_softmax(logits_of(models / name, tokens, 8)[..., ids], axis=-1)).reshape(24, -1)
        for name in ("small", "large")
    )
    target = np.searchsorted(ids, tokens[:, 8:].ravel())
    at = np.arange(24), target
    order = np.argsort(-p, axis=1, kind="stable")
    ranked = np.take_along_axis(p, order, axis=1)
    inside = np.zeros_like(p, bool)
    np.put_along_axis(inside, order, np.cumsum(ranked, axis=1) - ranked < 0.9, axis=1)
    expected = {
        ("losses", "loss"): -np.log(q[at]).mean(),
        ("losses", "loss_per_byte"): -np.log(q[at]).sum() / sum(map(len, windows["scored"].to_pylist())),
        ("losses", "accuracy"): (q.argmax(axis=1) == target).mean(),
        ("oversmoothing", "tto"): (np.maximum(q - p, 0) * ~inside).sum(axis=1).mean(),
        ("oversmoothing", "kl"): (p * np.log(p / q)).sum(axis=1).mean(),
        ("side_by_side", "reverse_kl"): (q * np.log(q / p)).sum(axis=1).mean(),
        ("side_by_side", "dp"): (q[at] - p[at]).mean(),
        ("side_by_side", "perplexity_ratio"): np.exp((np.log(p[at]) - np.log(q[at])).mean()),
    }
    for (table, measure), value in expected.items():
        row = chosen(compared.table[compared.table["table"] == table], model="small", measure=measure, quantile=None)
        assert row.value.item() == pytest.approx(value, rel=1e-5), measure
    accepted = chosen(compared.table, measure="acceptance", decoding="pure").value.item()
    assert accepted == pytest.approx(np.minimum(p, q).sum(axis=1).mean(), rel=1e-5)
    truths = chosen(compared.table, model="large", measure="loss").value.item()
    assert truths == pytest.approx(-np.log(p[at]).mean(), rel=1e-5)


def test_the_function_returns_the_record_of_all_tables(models):
    found = oversmoothing.compare(
        str(models / "small"), str(models / "large"), models / "t.txt", windows=2, device="cpu", **EIGHT
    )
    assert set(found["table"]) == set(TABLES)
    assert {"jensen_shannon", "reverse_kl", "top_five", "tbat", "forced", "share"} <= set(found.measure)
    assert oversmoothing.compare.__doc__.startswith("Return how far a language model is from another one")
    with pytest.raises(AttributeError, match="no attribute compere"):
        _ = oversmoothing.compere


def test_nothing_is_kept_of_a_window_that_was_measured(models):
    """Windows come one by one, and neither they nor the logits of an earlier batch live on."""
    seen, most = [], 0

    class Watcher:
        def begin(self, pair, windows, stream):
            assert len(windows) == 20

        def add(self, of, columns):
            nonlocal most
            assert columns["side_by_side"]["kl"].shape == (8,)
            seen.append(weakref.ref(of.window))
            gc.collect()
            most = max(most, sum(each() is not None for each in seen))

    run(settings(models, windows=20), [Watcher()])
    assert len(seen) == 20
    assert most <= 2


def test_all_tables_are_printed_in_80_columns(compared):
    text = reporting.report(compared)
    rows = [line.split("  ")[0].strip() for line in text.splitlines()]
    assert {"loss, nats per token ↓", "loss, nats per byte ↓", "TTO ↓", "KL (nats) ↓", "TBAT ↓"} <= set(rows)
    assert {"KL forced by its head ↓", "share of KL forced ↓", "acceptance, pure ↑", "acceptance, T = 0.8 ↑"} <= set(
        rows
    )
    assert {"perplexity ratio ↓", "same top token ↑", "99.9 %", "median", "RMS", "overlap of the top five ↑"} <= set(
        rows
    )
    told = " ".join(text.split())
    assert "over 24 positions (TBAT: 3; forced: 3)" in told
    assert "beside a higher loss they are no evidence of a softmax bottleneck; TBAT is of the model alone" in told
    assert "Noise floor: of small in float32" in told
    assert "KL takes a probability below 1e-09 for 1e-09" in told
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in text


def test_capped_logits_leave_out_what_needs_linear_ones(models):
    """The model's cap counts; the truth's does not."""
    capped = run(settings(models, "soft"))
    text = " ".join(reporting.report(capped).split())
    assert not {"tbat", "forced", "share"} & set(capped.table.measure)
    assert "TBAT and the part of KL that its head forces are left out, because they need logits that are linear" in text
    assert "those of soft are capped at 30. Acceptance is" in text
    assert {"tbat", "forced"} <= set(run(settings(models, "large", "soft")).table.measure)


def test_bytes_are_compared_where_tokenizers_differ(of_bytes):
    text = reporting.report(of_bytes)
    cells = {row[0]: row[1:] for row in (re.split(r" {2,}", line.strip()) for line in text.splitlines())}
    for measure in ("loss, nats per byte ↓", "loss, bits per byte ↓", "dropped"):
        assert len(cells[measure]) == 2
    for measure in ("TTO ↓", "NSMD ↓", "TV ↓", "KL (nats) ↓"):
        assert len(cells[measure]) == 1
    nats, bits = (float(cells[f"loss, {unit} per byte ↓"][0].split()[0]) for unit in ("nats", "bits"))
    assert bits == pytest.approx(nats / math.log(2), abs=2e-4)
    assert {"same top byte ↑", "99.9 %", "RMS"} <= cells.keys()
    told = " ".join(text.split())
    assert "Over bytes, because the tokenizers differ (of token 0, id 0 is b'!' in one and id 2 is b'!'" in told
    assert "left out: a distribution of bytes is no softmax of few dimensions" in told
    assert of_bytes.noise is None
    assert not {"tbat", "forced", "acceptance"} & set(of_bytes.table.measure)
    assert max(map(len, text.splitlines())) <= 80


def test_bytes_can_be_asked_for_and_lengths_have_their_own_defaults(models):
    asked = settings(models, over_bytes=True)
    assert find_pair(asked).why == "as --bytes asks"
    assert find_pair(settings(models)).why is None
    usual = Settings("small", "large", "t.txt")
    assert (usual.lengths(False), usual.lengths(True)) == ((64, 64), (256, 256))


def test_a_noise_floor_is_found_in_bf16(models):
    noise = {}
    for precision in ("float32", "bf16"):
        pair = find_pair(settings(models, precision=precision))
        compute = setup("cpu", {"precision": precision, "threads": 1})
        noise[precision] = stream.open_stream(pair, compute).noise(draw_passages(pair))
    exact, rounded = noise.values()
    assert exact.largest < 1e-9 < 1e-7 < rounded.mean <= rounded.largest < 0.1
    assert (exact.passages, rounded.precision) == (3, "bf16")


def test_the_text_may_be_a_folder_or_a_glob_of_columns(models, tmp_path):
    folder = tmp_path / "my [1] texts"
    folder.mkdir()
    for name in "ab":
        lines = "".join(f'"the water, {name} {i} times",{i}\n' for i in range(200))
        (folder / f"{name}.csv").write_text(f"body,id\n{lines}")
    for text in (folder, tmp_path / "my*/*.csv"):
        pair = find_pair(settings(models, text=text, column="body"))
        read = b"".join(draw_passages(pair)["scored"].to_pylist())
        assert b"times" in read
        assert b"id" not in read


def test_names_of_special_tokens_in_a_text_are_told_of(models, tmp_path, capsys):
    (tmp_path / "named.txt").write_text("the water</s>of the river\n" * 400)
    for more in ({}, {"over_bytes": True}):
        draw_passages(find_pair(settings(models, text=tmp_path / "named.txt", **more)))
        assert "named.txt has '</s>' 400 times: names of special tokens, which" in capsys.readouterr().err


@pytest.fixture(scope="module", params=[False, True])
def kept(models, tmp_path_factory, request):
    """A comparison of tokens, and one of bytes, with the folder that it kept and its page."""
    folder, page = tmp_path_factory.mktemp("kept") / "new/folder", Page()
    asked = settings(models, truth="other" if request.param else "large", windows=5)
    with Kept(folder) as files:
        made = run(asked, [page, files])
    return made, folder, page.text(made)


def test_what_is_kept_has_the_numbers_of_the_table(kept):
    made, folder, _ = kept
    positions = read_table(folder / "positions.parquet").to_pandas()
    assert len(positions) == 40
    for table, measure, column in (
        ("side_by_side", "kl", "side_by_side.kl"),
        ("side_by_side", "reverse_kl", "reverse_kl.reverse_kl"),
        ("oversmoothing", "tto", "scores.tto"),
        ("losses", "loss", "losses.loss"),
    ):
        rows = made.table[made.table["table"] == table]
        value = chosen(rows, model="small", measure=measure, quantile=None).value.item()
        assert positions[column].mean() == pytest.approx(value, rel=1e-5)
    windows = read_windows(folder / "windows.parquet")
    assert len(windows) == 5
    names = made.pair.settings.names
    model, truth = (folder / f"logits/{name}.parquet" for name in names)
    nats = []
    for each in read_logits(model, {"truth": truth}):
        q, p = (log_softmax(logits.astype(float), axis=1) for logits in (each.model, each.truths["truth"]))
        nats.append(np.where(p > -87, np.exp(p) * (np.maximum(p, -87) - np.maximum(q, -87)), 0).sum(axis=1))
    nats = np.concatenate(nats)
    np.testing.assert_allclose(nats, positions["side_by_side.kl"], rtol=1e-4, atol=1e-6)


def test_the_config_that_is_kept_is_one_of_the_workflow(kept):
    made, folder, _ = kept
    config = yaml.safe_load((folder / "config.yaml").read_text())
    check(default(**config))
    assert config["results"] == str(folder / "results")
    of_bytes = made.pair.why is not None
    assert config["tokens"] == ("bytes" if of_bytes else {"tokenizer": made.pair.settings.truth})
    assert ("tbat" in config["wanted"]) != of_bytes
    assert ("bytes" in config["wanted"]) == of_bytes
    assert [entry["name"] for entry in config["family"]] == ["small"]


@pytest.mark.parametrize(("bos", "written"), [("7", 7), ("1,2", [1, 2]), ("none", None), ("auto", "absent")])
def test_options_are_in_the_config_that_is_kept(models, tmp_path, bos, written):
    (tmp_path / "in [1]").mkdir()
    text = tmp_path / "in [1]/t.txt"
    text.write_text("the water " * 900)
    words = [str(models / "soft"), str(models / "large"), "--text", str(text), *SIZES, "--bos", bos]
    asked = parse([*words, "--split-on", "water", "--temperature", "0.7", "--top-p", "0.95", "--forced", "3"])
    config = study(find_pair(Settings.of(vars(asked))), tmp_path / "kept")
    check(default(**config))
    assert config["family"][0].get("bos", "absent") == config["truths"][0].get("bos", "absent") == written
    assert config["family"][0]["capped"] is True
    assert not {"tbat", "forced"} & set(config["wanted"])
    assert config["frontier"] == {"deltas": []}
    assert config["corpus"]["paths"] == [str(tmp_path / "in [[]1]/t.txt")]
    assert config["corpus"]["cut"] == {"text": "water"}
    assert config["decodings"][-2:] == [{"name": "top-p", "p": 0.95}, {"name": "temperature", "temperature": 0.7}]
    assert config["metrics"]["forced"] == {"per_window": 3}


def test_after_an_error_nothing_is_kept(models, tmp_path):
    class Failing(Page):
        def add(self, seen, columns):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Kept(tmp_path / "kept") as files:
        run(settings(models), [files, Failing()])
    assert not (tmp_path / "kept").exists()


def test_a_page_has_the_tables_the_pictures_and_the_text(kept):
    made, _, page = kept
    shown = Shown(page)
    assert not shown.open
    assert "http" not in page.replace("http-equiv", "").split("<body>")[0]
    assert "<script" not in page
    assert page.count("data:image/svg+xml;base64,") == 3
    assert page.count("<li>") == 10
    titles = re.findall(r"<b class='k\d' title='([^']*)'>", page)
    assert len(titles) == 5 * 8 + 10
    assert all("small: " in words and "dp " in words for words in titles)
    text = shown.text
    (worst,) = {chosen(made.table, measure="kl", quantile=1).value.item()}
    assert text.index("The ten worst places") < text.index(f"KL {worst:.3g} nats in passage") < text.index("The text")
    for line in reporting.report(made).splitlines()[2:8]:
        assert all(cell in text for cell in re.split(r" {2,}", line.strip()))


def test_a_page_escapes_what_it_was_given(models, tmp_path):
    text, evil = tmp_path / "t.txt", "<script>alert('x')</script>\x1b[2J the water of the river. "
    text.write_text(evil * 100)
    page = Page()
    shown = page.text(made := run(settings(models, text=text, windows=4), [page]))
    assert made.table.value.notna().all()
    assert "<script" not in shown
    assert "alert(" not in "".join(re.findall(r"<[^>]*onerror[^>]*>", shown))
    assert "\x1b" not in shown
    assert not Shown(shown).open


def test_names_on_the_hub_and_gguf_files_are_fetched_and_converted(models, tmp_path, monkeypatch):
    source = write_small_gguf(tmp_path / "small.gguf")
    text = models / "t.txt"
    monkeypatch.chdir(tmp_path)
    with local_hub({"owner/large": Repo(files_of(source))}) as hub:
        point_to(hub.address, monkeypatch, tmp_path)
        found = run(Settings("small.gguf", "owner/large", text, windows=2, device="cpu", **EIGHT))
    assert found.pair.settings.names == ("small", "large")
    kl = chosen(found.table, measure="kl", quantile=None)
    assert kl.value.abs().max() < 1e-6  # the same weights
    assert (tmp_path / "assets/gguf-small.gguf/config.json").is_file()
    config = study(found.pair, tmp_path / "kept")
    assert (config["family"][0]["hub"], config["truths"][0]["hub"]) == (str(tmp_path / "small.gguf"), "owner/large")


@pytest.fixture
def printed(compared, models, monkeypatch):
    """Let the command print a comparison that was made."""
    monkeypatch.setattr("oversmoothing.commands.compare_models.run", lambda *_: compared)
    given = [str(models / "small"), str(models / "large"), "--text", str(models / "t.txt"), *SIZES]
    return lambda *options: main(["compare-models", *given, *map(str, options)])


def test_what_is_printed_is_printable(printed, monkeypatch, capsys):
    monkeypatch.setattr("oversmoothing.commands.compare_models.report", lambda *_: "a\x1b[2J.\nb")
    assert printed() == 0
    assert capsys.readouterr().out == "a\\x1b[2J.\nb\n"


def test_json_has_the_tables_without_what_is_missing(printed, compared, models, tmp_path, capfd):
    path = tmp_path / "out.json"
    assert printed("--json", path) == 0
    found = json.loads(path.read_text())
    Draft202012Validator(SCHEMA).validate(found)
    assert found["tables"].keys() == set(TABLES)
    quantiles = [row for row in found["tables"]["side_by_side"] if row["measure"] == "kl" and "quantile" in row]
    assert quantiles[0]["quantile"] == 1
    assert "low" not in quantiles[0]
    assert found["noise"].keys() == {"mean", "largest", "precision"}
    assert (found["model"]["name"], found["truth"]["hub"]) == ("small", str(models / "large"))
    assert (found["unit"], found["windows"]["scored"]) == ("token", 8)
    assert f"Wrote {path}" in capfd.readouterr().out
    assert printed("--json", path) == 0  # an earlier one is replaced
    path.write_text("{}")
    assert printed("--json", path) == 1
    assert f"Error: --json {path}: no earlier output of this command, so it is not replaced" in capfd.readouterr().err
    assert printed("--json", "/dev/stdout") == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["unit"] == "token"
    assert "perplexity ratio" in err


def test_csv_has_a_row_for_each_number(printed, compared, tmp_path):
    path = tmp_path / "out.csv"
    assert printed("--csv", path) == 0
    assert printed("--csv", path) == 0
    found = pd.read_csv(path)
    assert len(found) == len(compared.table)
    np.testing.assert_allclose(found.value, compared.table.value.astype(float), rtol=1e-5)


def test_gains_of_a_frontier_stand_beside_areas(models, tmp_path, capsys):
    given = [str(models / "small"), str(models / "large"), "--text", str(models / "t.txt"), *SIZES]
    assert main(["frontier", *given, "--temperatures", "1", "2", "--positions", "4", "--csv", str(tmp_path / "f")]) == 0
    out = capsys.readouterr().out
    assert "12 positions" in " ".join(out.split())
    assert {"min-p", "p-less*", "oracle", "hindsight"} <= set(out.split())
    assert max(map(len, out.splitlines())) <= 80
    found = pd.read_csv(tmp_path / "f")
    assert set(found["table"]) == {"frontier"}
    assert set(found.temperature) == {1, 2}
    areas = found[(found.measure == "area") & found.less.isna() & (found.temperature == 1)].set_index("decoding").value
    assert (areas < areas["oracle"] + 1e-6).all()


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
