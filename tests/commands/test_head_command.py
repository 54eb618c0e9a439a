"""One model without a config: its measures against transformers and NumPy, its JSON against the schema, mistakes."""

import io
import json
import shutil
from contextlib import redirect_stdout

import numpy as np
import pytest
import torch
from gguf_models import write_small_gguf
from hub_models import edit, files_of, write_bpe, write_gemma2, write_neox, write_token_model
from huggingface_hub import constants
from jsonschema import Draft202012Validator
from local_hub import Repo, in_the_cache, local_hub, point_to
from scipy.optimize import linprog, minimize
from scipy.special import log_softmax, logsumexp, rel_entr
from tokenizers import Tokenizer, normalizers
from transformers import AutoModelForCausalLM

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.reject import reject_set
from oversmoothing.commands import head as head_command
from oversmoothing.commands import main
from oversmoothing.commands.head import seconds
from oversmoothing.commands.one_head.card import sets_of_text, sets_of_truth
from oversmoothing.commands.one_head.forced import forced
from oversmoothing.commands.one_head.measure import tbat
from oversmoothing.commands.one_head.text import LENGTH, passages
from oversmoothing.commands.schemas.head import SCHEMA
from oversmoothing.data.tokens.text import encode
from oversmoothing.hub.client import MODEL_FILES, take_stock
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.heads import ModelHead
from oversmoothing.models.model import GPT
from oversmoothing.models.source import tokenizer_of
from oversmoothing.models.weights import save_model
from oversmoothing.store.sealed_json import write_sealed

TEXT = "the people of the town read their letters where the river flows past; ünd so on"
TWINS = 40, 290  # tokens with equal rows of the head, so that neither is ever strictly the most probable
NORMS = {"gpt2": "ln_f", "neox": "final_layer_norm", "llama": "norm", "phi": "final_layernorm"}
TIED = {"gpt2": True, "neox": False, "llama": False, "phi": False}


@pytest.fixture(scope="module", params=sorted(TIED))
def measured(request, tmp_path_factory):
    """Measure a checkpoint in each of the layouts, with twins in its head; its name, folder, numbers and report."""
    folder = tmp_path_factory.mktemp(request.param)
    model = write_token_model(folder, request.param)
    output = model.get_output_embeddings()
    one, other = tokenized(folder)[1].ids[list(TWINS)]
    with torch.no_grad():
        output.weight[one] = output.weight[other]
        if output.bias is not None:
            output.bias[one] = output.bias[other]
    model.save_pretrained(folder)
    count = len(tokenized(folder)[0]) - 1
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as printed:
        found = head(folder, "--text", written(folder), "--positions", count, "--mass-tolerance", "0.001")
    return request.param, folder, found, printed.buffer.getvalue().decode()


@pytest.fixture
def llama(tmp_path, request):
    write_token_model(tmp_path / "llama", getattr(request, "param", "llama"))
    return tmp_path / "llama"


def written(folder, text=TEXT):
    """Write a text into a folder; return its path."""
    (folder / "own.txt").write_bytes(text.encode())
    return folder / "own.txt"


def tokenized(folder, text=TEXT):
    """Return the tokens of a text and the vocabulary of a folder."""
    tokenizer, vocabulary = tokenizer_of(folder)
    return encode(tokenizer, vocabulary, text), vocabulary


def head(folder, *arguments):
    """Run the command; return what its JSON holds, after a check against the schema."""
    path = folder / "out.json"
    assert main(["head", str(folder), "--precision", "float32", "--json", str(path), *map(str, arguments)]) == 0
    found = json.loads(path.read_text())
    Draft202012Validator(SCHEMA).validate(found)
    return found


def on_text(folder, *options):
    """Measure on a text what takes little time."""
    return head(folder, "--text", written(folder), "--no-unargmaxable", "--tbat", 0, *options)


def is_combination(weights, bias, i):
    """Tell whether a convex combination of the other rows is row i, with a bias that is no lower."""
    rows, offset = np.delete(weights, i, 0), np.delete(bias, i)
    equal = np.vstack([rows.T, np.ones(len(rows))])
    return linprog(offset * 0, -offset[None], [-bias[i]], equal, np.append(weights[i], 1)).status == 0


def test_values_are_those_of_transformers_and_numpy(measured):
    name, folder, found, printed = measured
    tokens, vocabulary = tokenized(folder)
    count = len(tokens) - 1
    reference = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.from_numpy(vocabulary.ids).long()
    with torch.inference_mode():
        logits = reference(ids[tokens][None]).logits[0, :-1].double()
    weights = reference.get_output_embeddings().weight.detach()[ids].double().numpy()
    rows = len(reference.get_output_embeddings().weight)

    shape = {"layers": 2, "width": 16, "tokens": 299, "rows": rows, "excluded": rows - 299}
    assert found["model"] == {**shape, "tied": TIED[name], "bias": name == "phi", "bos": None, "cap": None}

    sigma = np.linalg.svd(weights, compute_uv=False)
    shares = sigma / sigma.sum()
    assert np.linalg.matrix_rank(weights) == 16
    assert found["spectrum"] == {
        "largest": pytest.approx(sigma.max()),
        "median": pytest.approx(np.median(sigma)),
        "smallest": pytest.approx(sigma.min()),
        "notable_share": 1,
        "effective_rank": pytest.approx(np.exp(-(shares * np.log(shares)).sum())),
        "numerical_rank": 16,
        "singular_values": pytest.approx(sigma.tolist(), rel=1e-6),
    }

    p = logits[:, ids].softmax(-1).numpy()
    nats = -np.log(p[np.arange(count), tokens[1:]]).sum()
    size = len(TEXT.encode()) - len(vocabulary.texts[tokens[0]])
    g = p.copy()
    g[np.arange(count), tokens[1:]] -= 1
    passed = g @ np.linalg.svd(weights, full_matrices=False)[0]
    cosines = np.linalg.norm(passed, axis=1) / np.linalg.norm(g, axis=1)
    text = found["text"]
    assert text == {
        **{"file": str(folder / "own.txt"), "tokens": count + 1, "positions": count, "passages": 1},
        **{"passage_tokens": count + 1, "bytes": size},
        "loss_per_token": pytest.approx(nats / count, rel=1e-4),
        "loss_per_byte": pytest.approx(nats / size, rel=1e-4),
        "special_mass": pytest.approx(1 - logits.softmax(-1)[:, ids].sum(-1).mean().item(), rel=1e-3),
        "gradient_share": pytest.approx((passed**2).sum() / (g**2).sum(), rel=1e-4),
        "gradient_cosine": pytest.approx(cosines.mean(), rel=1e-4),
        "random_gradient_share": pytest.approx(16 / 299),
    }

    at = [count // 4, 3 * count // 4]
    low = reject_set(prepare(weights), p[at], mass_tolerance=1e-3).mass[0]
    assert found["tbat"]["positions"] == 2
    assert found["tbat"]["low"] == pytest.approx(low.mean(), abs=2e-3)
    assert found["tbat"]["low"] <= found["tbat"]["high"] <= found["tbat"]["low"] + 1e-3

    proved = found["unargmaxable"]["proved"]
    assert {int(vocabulary.ids[token]) for token in TWINS} <= {token["id"] for token in proved}
    assert found["unargmaxable"]["low"] == found["unargmaxable"]["high"] == len(proved) < 20
    place = {int(id): token for token, id in enumerate(vocabulary.ids)}
    bias = reference.get_output_embeddings().bias
    offset = np.zeros(299) if bias is None else bias.detach()[ids].double().numpy()
    for token in proved:
        assert is_combination(weights, offset, place[token["id"]])
        assert token["text"] == vocabulary.texts[place[token["id"]]].decode(errors="backslashreplace")
    others = sorted(set(range(299)) - {place[token["id"]] for token in proved})
    assert not any(is_combination(weights, offset, i) for i in others[::30])
    assert f"{text['loss_per_token']:.3f} nats per token, {text['loss_per_byte']:.3f} nats per byte" in printed
    assert f"[{found['tbat']['low']:.4f}, {found['tbat']['high']:.4f}], mean of 2 positions" in printed
    assert f"299 tokens; {rows - 299} special and padded ids are excluded" in printed
    assert f"{len(proved)} of 299" in printed


def test_rows_axes_and_sets_are_those_of_numpy_and_scipy(measured):
    name, folder, found, printed = measured
    ids = tokenized(folder)[1].ids
    reference = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    output, norm = reference.get_output_embeddings(), getattr(reference.base_model, NORMS[name])
    weights = output.weight.detach()[torch.from_numpy(ids).long()].double().numpy()
    centred = weights - weights.mean(axis=0)

    left, sigma, _ = np.linalg.svd(centred, full_matrices=False)
    place = {int(id): token for token, id in enumerate(ids)}
    assert len(found["directions"]) == 3
    for number, direction in enumerate(found["directions"]):
        assert direction["share"] == pytest.approx(sigma[number] ** 2 / (sigma**2).sum())
        high, low = (left[[place[token["id"]] for token in direction[end]], number] for end in ("high", "low"))
        values = np.sort(left[:, number] * np.sign(high[0]))  # of twins, which are equal, either may come first
        np.testing.assert_allclose(abs(high[0]), abs(left[:, number]).max(), atol=1e-6)
        np.testing.assert_allclose(np.sign(high[0]) * np.array([high, low]), [values[:-6:-1], values[:5]], atol=1e-6)

    distance = np.linalg.norm(centred, axis=1)
    near = found["near_mean"]
    assert near["median"] == pytest.approx(np.median(distance))
    assert near["below"] == (distance < np.median(distance) / 2).sum()
    assert [token["distance"] for token in near["nearest"]] == pytest.approx(np.sort(distance)[:10].tolist())
    assert near["nearest"][0]["id"] == ids[distance.argmin()]

    onto = np.eye(16) - (0 if name == "llama" else 1 / 16)  # a LayerNorm centres
    axes = np.linalg.svd(centred * norm.weight.detach().double().numpy() @ onto, compute_uv=False) * 4
    ellipsoid = found["ellipsoid"]
    assert ellipsoid["norm"] == ("RMSNorm" if name == "llama" else "LayerNorm")
    assert (ellipsoid["axes"], len(axes)) == (16 if name == "llama" else 15, 16)
    assert ellipsoid["longest"] == pytest.approx(axes[0], rel=1e-5)
    assert ellipsoid["ratio"] == pytest.approx(axes[0] / axes[ellipsoid["axes"] - 1], rel=1e-5)

    sets = found["top_sets"]
    assert sets["source"] == "text"
    assert [(size["k"], size["sets"], size["undecided"]) for size in sets["sizes"]] == [(2, 16, 0), (5, 16, 0)]
    assert all(size["possible"] + size["impossible"] == 16 for size in sets["sizes"])
    pairs = sets["sizes"][0]
    assert f"{pairs['possible']} of 16 possible, {pairs['impossible']} proved impossible, 0 undecided" in printed
    assert f"{ellipsoid['norm']}; {ellipsoid['axes']} semi-axes" in printed
    assert "Seconds of processor: start " in printed


def test_sets_of_a_truth_and_of_a_text_by_hand():
    p = np.array([[0.1, 0.2, 0.7], [0.2, 0.1, 0.7], [0.25, 0.05, 0.7]])
    assert {k: sets.tolist() for k, sets in sets_of_truth(p).items()} == {2: [[0, 2], [1, 2]]}
    drawn = sets_of_text(np.array([4, 4, 9, 7, 7, 7]))
    assert list(drawn) == [2]
    assert all(len(set(pair)) == 2 and set(pair) <= {4, 7, 9} for pair in drawn[2].tolist())


def test_seconds_by_hand():
    marks = ("start", 0.0), ("load", 3.0), ("text", 4.5), ("load", 5.0), ("", 8.0)
    assert seconds(marks) == "Seconds of processor: start 3.0, load 4.5, text 0.5; 8.0 in all"


def test_the_interval_of_tbat_by_hand():
    """One dimension; of six positions in five passages one may lose its second token; t of four degrees is 2.776."""
    loses, keeps = [0.45, 0.1, 0.45], [0.3, 0.4, 0.3]
    basis, p = prepare(np.array([[1.0], [2.0], [3.0]])), np.array([loses, *[keeps] * 5])
    found = tbat(basis, p, np.array([1, 2, 3, 4, 6, 6]), np.log(1.25), 0.0)
    assert (found["low"], found["high"]) == pytest.approx((0.1 / 6, 0.1 / 6))
    assert found["interval"] == pytest.approx({"low": 0, "high": 0.02 + 2.7764 * 0.02}, rel=1e-4)
    assert [value["low"] for value in found["values"]] == pytest.approx([0.1, 0, 0, 0, 0, 0])
    few = tbat(basis, p, np.array([1, 2, 3, 4, 4, 4]), np.log(1.25), 0.0)
    assert few["interval"] == {"low": None, "high": None}
    assert few["passages"] == 4


def test_a_tbat_of_few_passages_says_where_its_values_lie_and_how_to_get_an_interval(llama, capsys):
    found = on_text(llama, "--positions", 10, "--tbat", 2)["tbat"]
    printed = capsys.readouterr().out
    lows, highs = ([value[end] for value in found["values"]] for end in ("low", "high"))
    assert found["interval"]["low"] is None
    assert np.mean(lows) == pytest.approx(found["low"])
    assert f"mean of 2 positions, each in [{min(lows):.4f}, {max(highs):.4f}]" in printed
    assert "it needs positions in 5 passages, not 1; give a longer text" in printed  # it has one passage


def test_the_id_before_texts_stands_before_each_passage(llama, capsys, caplog):
    """Of the tokenizer, unless another is asked for; what another file says of it is told."""
    without = on_text(llama, "--positions", 10)
    printed = capsys.readouterr().out
    assert "; no id before each passage" in printed
    assert "TBAT" not in printed
    asked = on_text(llama, "--positions", 10, "--bos", 0)["text"]
    assert not caplog.text
    path = llama / "tokenizer_config.json"
    edit(path, bos_token={"content": "<s>"}, add_bos_token=True)
    assert on_text(llama, "--positions", 10) == without
    assert "`add_bos_token: true`, but tokenizer.json puts no id before a text, and that is what is used" in caplog.text
    assert caplog.text.count("or --bos 0, would change it") == 1
    write_bpe(llama, begins=True)
    edit(path, add_bos_token=False)
    tokens, vocabulary = tokenized(llama)
    found = on_text(llama, "--positions", 10)
    assert "but tokenizer.json puts the id 0 before a text, and that is what is used; `bos`" in caplog.text
    assert "; id 0 before each passage" in capsys.readouterr().out
    assert found["text"] == asked
    assert on_text(llama, "--positions", 10, "--bos", "none")["text"] == without["text"] != asked
    assert found["model"]["bos"] == 0
    assert on_text(llama, "--positions", 10, "--bos", "1,0")["model"]["bos"] == [1, 0]
    assert "; ids 1,0 before each passage" in capsys.readouterr().out
    reference = AutoModelForCausalLM.from_pretrained(llama, dtype=torch.float32)
    ids = torch.from_numpy(vocabulary.ids).long()
    with torch.inference_mode():
        logits = reference(torch.cat([torch.tensor([0]), ids[tokens]])[None]).logits[0, 1:-1, ids].double()
    places = (np.arange(10) + 0.5) * (len(tokens) - 1) // 10
    nats = -logits.log_softmax(-1)[places, tokens[1:][places.astype(int)]]
    assert found["text"]["loss_per_token"] == pytest.approx(nats.mean().item(), rel=1e-4)


def test_a_byte_that_the_tokenizer_would_drop_is_counted_or_refused(llama, refused):
    """Nats per byte were divided by the bytes that were left of a text."""
    text, path = TEXT.replace(" ", "\r\n"), llama / "tokenizer.json"
    file = written(llama, text)
    tokens, vocabulary = tokenized(llama, text)
    given = "--text", file, "--positions", len(tokens) - 1, "--tbat", 0, "--no-unargmaxable"
    found = head(llama, *given)["text"]
    assert found["bytes"] == len(text.encode()) - len(vocabulary.texts[tokens[0]])
    assert found["loss_per_byte"] * found["bytes"] == pytest.approx(found["loss_per_token"] * found["positions"])
    path.write_text(path.read_text().replace('"\u010d"', '"zz"'))  # the name of 0x0D
    assert f"{file}: from byte 3 on the tokenizer reads" in refused("head", llama, *given)
    assert "from byte 3 on" in refused("size", "--truth", llama, "--text", file)


@pytest.mark.parametrize(
    ("size", "block", "count"), [(40, 1000, 39), (5000, 64, 100), (5000, 10**9, 3000), (80, 20, 7)]
)
def test_passages_are_evenly_spaced(size, block, count):
    tokens = np.arange(size)
    divided = passages(tokens, block, count, "text")
    assert sum(len(passage.places) for passage in divided) == count
    (length,) = {len(passage.tokens) for passage in divided}
    assert length == min(block, LENGTH, size)
    starts = np.array([passage.tokens[0] for passage in divided])
    assert (np.diff(starts) >= length).all()
    for start, passage in zip(starts, divided, strict=True):
        assert (passage.tokens == tokens[start : start + length]).all()
        assert 1 <= passage.places.min() <= passage.places.max() < length
        assert len(set(passage.places)) == len(passage.places)
    if len(divided) > 1:
        assert starts[-1] + length == size


def test_a_model_of_the_hub_is_fetched_once(tmp_path, monkeypatch, refused):
    write_token_model(tmp_path / "files", "llama")
    monkeypatch.chdir(tmp_path)
    arguments = ["head", "owner/small", "--no-unargmaxable", "--json", "out.json"]
    repo = Repo(files_of(tmp_path / "files"))
    with local_hub({"owner/small": repo}) as hub:
        point_to(hub.address, monkeypatch, tmp_path)
        assert main(arguments) == 0
        asked = len(hub.requests)
        hub.down = True
        assert main(arguments) == 0
        assert len(hub.requests) == asked
        hub.down = False
        assert "has no revision 'other'" in refused(*arguments, "--revision", "other")
        assert "owner/none: no such folder (searched from" in refused("head", "owner/none")
        monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
        line = refused("head", "owner/other")
        assert "the hub cannot be reached (" in line
        assert line.endswith("; name a folder, or run again with network access\n")
        config = next((tmp_path / "hub").rglob("config.json"))
        source = {"repository": "owner/small", "revision": "main"}
        write_sealed(tmp_path / "assets/owner--small@main.json", take_stock(config.parent, MODEL_FILES) | source)
        config.unlink()
        line = refused("head", "owner/small")  # what `snakemake assets` fetched goes before
        assert line.endswith("config.json is missing; delete assets/owner--small@main.json and run again\n")
    source = json.loads((tmp_path / "out.json").read_text())["source"]
    assert (source["name"], source["revision"], source["commit"]) == ("owner/small", "main", repo.commit)


def test_a_model_that_a_study_trained(tmp_path, llama, refused):
    """Its text is measured as bytes; loss, spectrum and what a truth leaves are those of the model itself."""
    data, models = TEXT.encode(), {}
    for name, seed in (("own", 0), ("other", 1)):
        config = GPTConfig(layers=1, heads=2, width=12, block=96, rank=6)
        models[name] = GPT(config, seed, "fan_in").eval()
        save_model(tmp_path / name / "weights.safetensors", config, models[name].state_dict(), {})
    n = len(data) - 1
    found = on_text(tmp_path / "own", "--positions", n, "--truth", tmp_path / "other", "--forced-positions", n)
    text, shape = found["text"], found["model"]
    assert (text["tokens"], text["bytes"], text["positions"], text["special_mass"]) == (n + 1, n, n, 0)
    assert {"width": 6, "tokens": 256, "excluded": 0, "tied": False, "bos": None}.items() <= shape.items()
    with torch.inference_mode():
        logits = (models[name](torch.tensor([list(data)]))[0, :-1].double() for name in ("own", "other"))
        q, p = (each.log_softmax(-1) for each in logits)
    loss = float(-q[torch.arange(n), torch.tensor(list(data[1:]))].mean())
    assert text["loss_per_byte"] == text["loss_per_token"] == pytest.approx(loss, rel=1e-5)
    assert found["forced"]["kl"]["mean"] == pytest.approx(float((p.exp() * (p - q)).sum(-1).mean()), rel=1e-4)
    assert found["forced"]["forced"]["mean"] > 0
    line = refused("head", llama, "--text", written(tmp_path), "--truth", tmp_path / "own")
    assert f"{tmp_path / 'own'}: it reads bytes, and the other model does not: of token 0, id 2 is" in line
    assert "its tokenizer is not that of the other model" not in line


def test_a_model_in_the_hubs_own_cache_is_read_there(llama, monkeypatch, no_network):
    """By its name, its folder there or a snapshot; a folder of assets is not made."""
    before = head(llama, "--no-unargmaxable")
    (llama / "out.json").unlink()
    cache = llama.parent / "hub"
    snapshot = in_the_cache(llama, cache)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.chdir(llama)
    for name, revision in (("owner/small", "main"), (snapshot.parents[1], None), (snapshot, None)):
        assert main(["head", str(name), "--precision", "float32", "--no-unargmaxable", "--json", "out.json"]) == 0
        found = json.loads((llama / "out.json").read_text())
        source = {"name": str(name), "folder": str(snapshot), "revision": revision, "commit": snapshot.name}
        assert source.items() <= found["source"].items()
        assert {**found, "source": None} == {**before, "source": None}
    assert [path.name for path in llama.iterdir()] == ["out.json"]


def test_a_model_that_caps_its_logits(tmp_path, capsys):
    """Loss and KL are of the capped logits of transformers, unargmaxable tokens stay, what is left out is said."""
    for name, cap in (("soft", 0.5), ("plain", None)):
        reference = write_gemma2(tmp_path / name, 301, cap)
        one, other = tokenized(tmp_path / name)[1].ids[list(TWINS)]
        with torch.no_grad():
            reference.get_output_embeddings().weight[one] = reference.get_output_embeddings().weight[other]
        reference.save_pretrained(tmp_path / name)
    write_gemma2(tmp_path / "truth", 301, 5.0, std=0.2)
    plain = head(tmp_path / "plain")
    assert "Left out" not in capsys.readouterr().out
    tokens, vocabulary = tokenized(tmp_path / "soft")
    ids, count = torch.from_numpy(vocabulary.ids).long(), len(tokens) - 1
    given = "--text", written(tmp_path), "--positions", count, "--forced-positions", count
    found = head(tmp_path / "soft", "--truth", tmp_path / "truth", *given)
    printed = " ".join(capsys.readouterr().out.split())
    log_q, p = (log_softmax(logits_of(tmp_path / name, tokens, ids)[0], axis=1) for name in ("soft", "truth"))
    assert (found["model"]["cap"], found["tbat"]) == (0.5, None)
    loss = -log_q[np.arange(count), tokens[1:]].mean()
    assert found["text"]["loss_per_token"] == pytest.approx(loss, rel=1e-5)
    kl = (np.exp(p) * (p - log_q)).sum(axis=1).mean()
    assert found["forced"]["kl"]["mean"] == pytest.approx(kl, rel=1e-4)
    assert [found["forced"][name] for name in ("forced", "share", "gap", "proved")] == [None] * 4
    assert "no bias; logits capped, 0.5 tanh(z / 0.5)" in printed
    assert f"KL to truth {kl:.3f} nats ({count} positions in 1 passages)" in printed
    assert "Left out are TBAT and what the head forces: both need logits that are linear in what enters" in printed
    assert found["spectrum"] == plain["spectrum"]
    assert found["unargmaxable"] == plain["unargmaxable"]
    assert found["unargmaxable"]["low"] == 2


def test_texts_of_every_format_are_measured_alike(llama, tmp_path, capsys):
    """Rows of a table are documents, as what stands between the names of a special token is if the user says so."""
    parts = [f"{TEXT}. " * 9 + "The end.", f"But {TEXT}."]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.csv").write_text("id,text\n" + "".join(f'{i},"{part}"\n' for i, part in enumerate(parts)))
    (tmp_path / "a.raw").write_text("</s>".join(parts))
    found = []
    for text, *options in (
        (tmp_path / "folder",),
        (f"{tmp_path}/*/*.csv",),
        (tmp_path / "a.raw", "--split-on", "</s>"),
    ):
        few = "--positions", "16", "--tbat", "0", "--no-unargmaxable", "--json", str(tmp_path / "out.json")
        assert main(["head", str(llama), "--text", str(text), *options, *few]) == 0
        found.append(json.loads((tmp_path / "out.json").read_text())["text"] | {"file": ""})
        assert "special" not in capsys.readouterr().err
    assert found[0] == found[1] == found[2]
    assert main(["head", str(llama), "--text", str(tmp_path / "a.raw"), *few]) == 0
    assert "a.raw has '</s>' once: names of special tokens" in capsys.readouterr().err


def test_mistakes_are_one_line(llama, tmp_path, refused):
    short, text, count = tmp_path / "short.txt", written(tmp_path), len(tokenized(llama)[0])
    short.write_text("the")
    enough = f"own.txt: it has {count} tokens, of which {count - 1} can be predicted; give a longer text, or lower"
    for message, *arguments in (
        (f"{tmp_path}/none: no such folder", tmp_path / "none"),
        ("--revision main: ", llama, "--revision", "main"),
        ("out.json: not a file in an existing", llama, "--json", tmp_path / "none/out.json"),
        ("none.txt: no such file", llama, "--text", tmp_path / "none.txt"),
        ("short.txt: at least 2 tokens are needed to predict one, and it has 1", llama, "--text", short),
        (enough, llama, "--text", text, "--positions", "64"),
        (f"--truth {llama}: both models are run on a text; name one with --text", llama, "--truth", llama),
        ("--positions 0 must be at least 1", llama, "--positions", 0),
        ("--forced-positions 0 must be at least 1", llama, "--forced-positions", 0),
        ("--tbat-positions -1", llama, "--tbat-positions", -1),
        ("--delta 21", llama, "--delta", 21),
        ("--mass-tolerance 2", llama, "--mass-tolerance", 2),
    ):
        assert message in refused("head", *arguments)
    (llama / "tokenizer.json").unlink()
    assert "tokenizer.json: no such file" in refused("head", llama)


@pytest.mark.parametrize("command", ["head", "size", "compare-models"])
def test_the_schema_is_one(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--schema"])
    assert ended.value.code == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["title"] == f"oversmoothing {command}"
    Draft202012Validator.check_schema(schema)


def test_a_gguf_file_is_converted_once_and_again_when_it_has_changed(tmp_path, monkeypatch, refused):
    source, config = write_small_gguf(tmp_path / "small.gguf"), tmp_path / "assets/gguf-small.gguf/config.json"
    monkeypatch.chdir(tmp_path)

    def measured(name):
        assert main(["head", name, "--no-unargmaxable", "--device", "cpu", "--json", "out.json"]) == 0
        return json.loads((tmp_path / "out.json").read_text())

    first = measured("small.gguf")
    assert first["source"]["folder"] == "assets/gguf-small.gguf"
    assert measured(str(source)) | {"source": None} == first | {"source": None}
    made = config.stat().st_mtime_ns
    measured("./small.gguf")
    assert config.stat().st_mtime_ns == made
    write_small_gguf(tmp_path / "small.gguf", division="smollm")
    measured("small.gguf")
    assert config.stat().st_mtime_ns > made
    assert "--revision r: small.gguf is a path" in refused("head", "small.gguf", "--revision", "r")
    (tmp_path / "small.gguf").unlink()
    assert "Error: small.gguf: no such file (searched from " in refused("head", "small.gguf")


def logits_of(folder, tokens, ids):
    reference = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        logits = reference(ids[tokens][None]).logits[0, :-1, ids].double().numpy()
    head = reference.get_output_embeddings()
    bias = np.zeros(len(ids)) if head.bias is None else head.bias.detach()[ids].double().numpy()
    return logits, head.weight.detach()[ids].double().numpy(), bias


def least(weights, bias, p):
    """Return the least KL(p || softmax(b + W h)) that SciPy finds."""

    def objective(h):
        z = bias + weights @ h
        return logsumexp(z) - p @ z, weights.T @ (np.exp(z - logsumexp(z)) - p)

    start = np.linalg.lstsq(weights - weights.mean(0), log_softmax(np.log(p)), rcond=None)[0]
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    return found.fun + p @ np.log(p)


@pytest.mark.parametrize(  # a tied head, one with rows that pad it, one with a bias; and a truth that caps its logits
    ("name", "llama"), [("gpt2", "llama"), ("neox", "llama"), ("phi", "gemma2")], indirect=["llama"]
)
def test_both_lines_are_those_of_transformers_and_scipy(name, tmp_path, llama, capsys):
    write_token_model(tmp_path / name, name)
    tokens, vocabulary = tokenized(llama)
    ids = torch.from_numpy(vocabulary.ids).long()
    count = len(tokens) - 1
    found = on_text(tmp_path / name, "--truth", llama, "--positions", count, "--forced-positions", 6)["forced"]
    at = ((np.arange(6) + 0.5) * count / 6).astype(int)
    p = np.exp(log_softmax(logits_of(llama, tokens, ids)[0][at], axis=1))
    logits, weights, bias = logits_of(tmp_path / name, tokens, ids)
    kl = rel_entr(p, np.exp(log_softmax(logits[at], axis=1))).sum(axis=1)
    expected = [least(weights, bias, row) for row in p]
    assert found["kl"]["mean"] == pytest.approx(kl.mean(), rel=1e-5)
    assert found["forced"]["mean"] == pytest.approx(np.mean(expected), rel=1e-5)
    assert found["share"]["mean"] == pytest.approx(np.mean(expected) / kl.mean(), rel=1e-5)
    assert 0.01 < found["share"]["mean"] < 0.99
    assert (found["positions"], found["proved"], found["passages"]) == (6, 6, 1)
    assert found["gap"] < 1e-9
    assert found["truth"] == {"name": str(llama), "folder": str(llama), "revision": None, "commit": None}
    printed = capsys.readouterr().out
    share = found["share"]["mean"]
    values = f"{kl.mean():.3f} nats, of which this head forces {np.mean(expected):.3f} ({share:.0%})"
    assert f"KL to llama               {values}\n" in printed
    assert "(6 positions in 1 passages; the forced part is proved to 0.1 % at all, largest gap " in printed


def test_the_interval_of_two_passages_by_hand():
    """Of two passages of one position each, a draw has the first alone, the second alone, or both."""
    weights = np.array([[1.0], [-1.0], [0.0]])
    p = np.array([[0.2, 0.2, 0.6], [0.4, 0.4, 0.2]])
    log_q = np.log(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]))
    kl = rel_entr(p, np.exp(log_q)).sum(axis=1)
    mine = np.log(3) - [-(row @ np.log(row)) for row in p]  # of both, the uniform distribution is the nearest
    found = forced(ModelHead(weights), p, log_q, np.array([3, 7]))
    assert found["passages"] == 2
    for name, values in (("kl", kl), ("forced", mine)):
        assert found[name] == pytest.approx({"mean": values.mean(), "low": values.min(), "high": values.max()})
    shares = mine / kl
    assert found["share"] == pytest.approx({"mean": mine.sum() / kl.sum(), "low": shares.min(), "high": shares.max()})


def test_the_truths_likeliest_sets_are_ranked_as_linear_programs_say(tmp_path, llama, capsys):
    write_token_model(tmp_path / "gpt2", "gpt2")
    given = "--text", written(tmp_path), "--positions", 9, "--forced-positions", 4, "--tbat", 0
    found = head(tmp_path / "gpt2", "--truth", llama, *given)["top_sets"]
    tokens, vocabulary = tokenized(llama)
    ids = torch.from_numpy(vocabulary.ids).long()
    places = ((np.arange(9) + 0.5) * (len(tokens) - 1) / 9).astype(int)[((np.arange(4) + 0.5) * 9 / 4).astype(int)]
    likeliest = np.argsort(-logits_of(llama, tokens, ids)[0][places], axis=1)
    weights = logits_of(tmp_path / "gpt2", tokens, ids)[1]
    assert found["source"] == "truth"
    for size, k in zip(found["sizes"], (2, 5), strict=True):
        sets = {tuple(sorted(row)) for row in likeliest[:, :k].tolist()}
        possible = sum(is_ranked_first(weights, members) for members in sets)
        counts = {"possible": possible, "impossible": len(sets) - possible, "undecided": 0}
        assert size == {"k": k, "sets": len(sets), **counts}
    assert ": likeliest tokens of the truth\n" in capsys.readouterr().out


def is_ranked_first(weights, members):
    """Tell by SciPy whether some h and threshold part the logits of some tokens from those of all others."""
    sign = np.where(np.isin(np.arange(len(weights)), members), 1.0, -1.0)
    rows = np.column_stack([-sign[:, None] * weights, -sign, np.ones(len(weights))])
    bounds = [(None, None)] * (weights.shape[1] + 1) + [(None, 1)]
    return linprog(np.append(np.zeros(weights.shape[1] + 1), -1), rows, 0 * sign, bounds=bounds).fun < -1e-9


def test_beside_itself_a_model_is_the_truth_and_a_shorter_context_of_a_truth_is_respected(tmp_path, llama, capsys):
    found = on_text(llama, "--truth", llama, "--positions", 9)["forced"]
    assert found["kl"]["mean"] == pytest.approx(0, abs=1e-12)
    assert found["share"] is None
    assert "KL to llama               0.000 nats, of which this head forces 0.000\n" in capsys.readouterr().out
    write_token_model(tmp_path / "gpt2", "gpt2")
    edit(llama / "config.json", max_position_embeddings=20)
    assert on_text(tmp_path / "gpt2", "--truth", llama, "--positions", 9)["text"]["passage_tokens"] == 20


def test_mistakes_beside_a_truth_are_found_before_weights_are_read(tmp_path, llama, monkeypatch, refused):
    monkeypatch.setattr(head_command, "load", lambda *others: pytest.fail("it read weights"))
    other, few, small, short = (tmp_path / name for name in ("other", "few", "small", "short"))
    write_neox(other)
    write_token_model(few, "gpt2", rows=290)
    own = Tokenizer.from_file(str(llama / "tokenizer.json"))
    for folder, own.normalizer in ((small, normalizers.Lowercase()), (short, normalizers.Replace("people", "folk"))):
        shutil.copytree(llama, folder)
        own.save(str(folder / "tokenizer.json"))
    unlike = "its tokenizer is not that of the other model: its tokens are the same, but at"
    for message, truth, *options in (
        (f"{other}: its tokenizer is not", other),
        ("has only 290 rows", few),
        ("none: no such folder", tmp_path / "none"),
        (f"{small}: {unlike} \"The water's", small),
        (f"{short}: {unlike} ' people of the t' it has", short, "--positions", 9),  # which the probe does not show
    ):
        line = refused("head", llama, "--truth", truth, "--text", written(tmp_path), *options)
        assert message in line
        assert "study" not in line.replace(str(tmp_path), "")
        assert ("`oversmoothing compare-models --bytes` compares models of" in line) == ("tokenizer is not" in message)
