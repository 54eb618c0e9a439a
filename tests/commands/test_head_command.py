"""One model without a config: its measures against transformers and NumPy, its JSON against the schema, mistakes."""

import json

import numpy as np
import pytest
import torch
from gguf_models import write_small_gguf
from hub_models import edit, files_of, write_bpe, write_gemma2, write_token_model
from huggingface_hub import constants
from jsonschema import Draft202012Validator
from local_hub import Repo, in_the_cache, local_hub, point_to
from scipy.optimize import linprog
from transformers import AutoModelForCausalLM

from oversmoothing.bat.basis import prepare
from oversmoothing.bat.reject import reject_set
from oversmoothing.commands import main
from oversmoothing.commands.head import Seconds
from oversmoothing.commands.one_head.card import sets_of_text, sets_of_truth
from oversmoothing.commands.one_head.measure import tbat
from oversmoothing.commands.one_head.schema import SCHEMA
from oversmoothing.commands.one_head.source import tokenizer_of
from oversmoothing.commands.one_head.text import LENGTH, passages
from oversmoothing.data.tokens.text import encode
from oversmoothing.hub.client import MODEL_FILES, take_stock
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.weights import save_model
from oversmoothing.numerics.spaced_positions import positions_of
from oversmoothing.store.sealed_json import write_sealed

TEXT = "the people of the town read their letters where the river flows past; ünd so on"
TWINS = 40, 290  # tokens with equal rows of the head, so that neither is ever strictly the most probable
EXACTLY = "--mass-tolerance", "0.001"
NORMS = {"gpt2": "ln_f", "neox": "final_layer_norm", "llama": "norm", "phi": "final_layernorm"}
TIED = {"gpt2": True, "neox": False, "llama": False, "phi": False}


@pytest.fixture(scope="module", params=sorted(TIED))
def layout(request, tmp_path_factory):
    """Name and folder of a checkpoint in each of the layouts, with twins in its head."""
    folder = tmp_path_factory.mktemp(request.param)
    model = write_token_model(folder, request.param)
    head = model.get_output_embeddings()
    one, other = tokenized(folder)[1].ids[list(TWINS)]
    with torch.no_grad():
        head.weight[one] = head.weight[other]
        if head.bias is not None:
            head.bias[one] = head.bias[other]
    model.save_pretrained(folder)
    return request.param, folder


@pytest.fixture
def llama(tmp_path):
    write_token_model(tmp_path / "llama", "llama")
    return tmp_path / "llama"


def tokenized(folder, text=TEXT):
    """Return the tokens of a text and the vocabulary of a folder."""
    tokenizer, vocabulary = tokenizer_of(folder)
    return encode(tokenizer, vocabulary, text), vocabulary


def head(folder, *arguments):
    """Run the command; return what its JSON holds, after a check against the schema."""
    path = folder / "out.json"
    assert main(["head", str(folder), "--precision", "float32", "--json", str(path), *arguments]) == 0
    found = json.loads(path.read_text())
    Draft202012Validator(SCHEMA).validate(found)
    return found


def is_combination(weights, bias, i):
    """Tell whether a convex combination of the other rows is row i, with a bias that is no lower."""
    rows, offset = np.delete(weights, i, 0), np.delete(bias, i)
    equal = np.vstack([rows.T, np.ones(len(rows))])
    return linprog(offset * 0, -offset[None], [-bias[i]], equal, np.append(weights[i], 1)).status == 0


def test_values_are_those_of_transformers_and_numpy(layout, capsys):
    name, folder = layout
    (folder / "own.txt").write_text(TEXT, encoding="utf-8")
    tokens, vocabulary = tokenized(folder)
    count = len(tokens) - 1
    found = head(
        folder, "--text", str(folder / "own.txt"), "--positions", str(count), "--tbat-positions", "2", *EXACTLY
    )
    reference = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.from_numpy(vocabulary.ids).long()
    with torch.inference_mode():
        logits = reference(ids[tokens][None]).logits[0, :-1].double()
    weights = reference.get_output_embeddings().weight.detach()[ids].double().numpy()
    rows = len(reference.get_output_embeddings().weight)

    measured = {"layers": 2, "width": 16, "tokens": 299, "rows": rows, "excluded": rows - 299}
    assert found["model"] == {**measured, "tied": TIED[name], "bias": name == "phi", "bos": None, "cap": None}

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
    printed = capsys.readouterr().out
    assert f"{text['loss_per_token']:.3f} nats per token, {text['loss_per_byte']:.3f} nats per byte" in printed
    assert f"[{found['tbat']['low']:.4f}, {found['tbat']['high']:.4f}], mean of 2 positions" in printed
    assert f"299 tokens; {rows - 299} special and padded ids are excluded" in printed
    assert f"{len(proved)} of 299" in printed


def test_rows_axes_and_sets_are_those_of_numpy_and_scipy(layout, capsys):
    name, folder = layout
    (folder / "own.txt").write_text(TEXT, encoding="utf-8")
    found = head(folder, "--text", str(folder / "own.txt"), "--positions", "8", "--tbat-positions", "0")
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
    printed = capsys.readouterr().out
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
    times = iter([3.0, 4.5, 5.0, 8.0])
    seconds = Seconds(lambda: next(times))
    for part in ("load", "text", "load"):
        seconds.begin(part)
    assert seconds.line() == "Seconds of processor: start 3.0, load 4.5, text 0.5; 8.0 in all"


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
    (llama / "own.txt").write_text(TEXT)
    given = ["--text", str(llama / "own.txt"), "--positions", "10", "--no-unargmaxable", "--tbat"]
    found = head(llama, *given, "2")["tbat"]
    printed = capsys.readouterr().out
    values = found["values"]
    assert found["interval"]["low"] is None
    assert np.mean([value["low"] for value in values]) == pytest.approx(found["low"])
    low, high = min(value["low"] for value in values), max(value["high"] for value in values)
    assert f"mean of 2 positions, each in [{low:.4f}, {high:.4f}]" in printed
    assert "it needs positions in 5 passages, not 1; give a longer text" in printed  # it has one passage
    assert head(llama, *given, "0")["tbat"] is None
    assert "TBAT" not in capsys.readouterr().out


def test_the_id_before_texts_stands_before_each_passage(llama, capsys, caplog):
    """Of the tokenizer, unless another is asked for; what another file says of it is told."""
    (llama / "own.txt").write_text(TEXT)
    arguments = ["--text", str(llama / "own.txt"), "--positions", "10", "--tbat-positions", "0", "--no-unargmaxable"]
    without = head(llama, *arguments)
    assert "; no id before each passage" in capsys.readouterr().out
    asked = head(llama, *arguments, "--bos", "0")["text"]
    assert not caplog.text
    path = llama / "tokenizer_config.json"
    edit(path, bos_token={"content": "<s>"}, add_bos_token=True)
    assert head(llama, *arguments) == without
    assert "`add_bos_token: true`, but tokenizer.json puts no id before a text, and that is what is used" in caplog.text
    assert caplog.text.count("or --bos 0, would change it") == 1
    write_bpe(llama, begins=True)
    edit(path, add_bos_token=False)
    tokens, vocabulary = tokenized(llama)
    found = head(llama, *arguments)
    assert "but tokenizer.json puts the id 0 before a text, and that is what is used; `bos`" in caplog.text
    assert "; id 0 before each passage" in capsys.readouterr().out
    assert found["text"] == asked
    assert head(llama, *arguments, "--bos", "none")["text"] == without["text"] != asked
    assert found["model"]["bos"] == 0
    assert found["tbat"] is None
    reference = AutoModelForCausalLM.from_pretrained(llama, dtype=torch.float32)
    ids = torch.from_numpy(vocabulary.ids).long()
    with torch.inference_mode():
        logits = reference(torch.cat([torch.tensor([0]), ids[tokens]])[None]).logits[0, 1:-1, ids].double()
    places = (np.arange(10) + 0.5) * (len(tokens) - 1) // 10
    nats = -logits.log_softmax(-1)[places, tokens[1:][places.astype(int)]]
    assert found["text"]["loss_per_token"] == pytest.approx(nats.mean().item(), rel=1e-4)


def test_a_byte_that_the_tokenizer_would_drop_is_counted_or_refused(llama, refused):
    """Nats per byte were divided by the bytes that were left of a text."""
    text, path, file = TEXT.replace(" ", "\r\n"), llama / "tokenizer.json", llama / "own.txt"
    file.write_bytes(text.encode())
    tokens, vocabulary = tokenized(llama, text)
    given = ["--text", str(file), "--positions", str(len(tokens) - 1), "--tbat-positions", "0", "--no-unargmaxable"]
    found = head(llama, *given)["text"]
    assert found["bytes"] == len(text.encode()) - len(vocabulary.texts[tokens[0]])
    assert found["loss_per_byte"] * found["bytes"] == pytest.approx(found["loss_per_token"] * found["positions"])
    path.write_text(path.read_text().replace('"\u010d"', '"zz"'))  # the name of 0x0D
    assert f"{file}: the tokenizer has no token for byte 3, 0x0D, which would vanish" in refused("head", llama, *given)
    assert "for byte 3, 0x0D" in refused("size", "--truth", llama, "--text", file)


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
        write_sealed(tmp_path / "assets/owner--small@main.json", take_stock(config.parent, MODEL_FILES))
        config.unlink()
        line = refused("head", "owner/small")  # what `snakemake assets` fetched goes before
        assert line.endswith("config.json is missing; delete assets/owner--small@main.json and run again\n")
    source = json.loads((tmp_path / "out.json").read_text())["source"]
    assert (source["name"], source["revision"], source["commit"]) == ("owner/small", "main", repo.commit)


def test_a_model_that_a_study_trained(tmp_path, llama, refused):
    """Its text is measured as bytes; loss, spectrum and what a truth leaves are those of the model itself."""
    models = {}
    for name, seed in (("own", 0), ("other", 1)):
        config = GPTConfig(layers=1, heads=2, width=12, block=64, rank=6)
        models[name] = GPT(config, seed, "fan_in").eval()
        save_model(tmp_path / name / "weights.safetensors", config, models[name].state_dict(), {})
    (tmp_path / "own.txt").write_text(TEXT, encoding="utf-8")
    data = TEXT.encode()
    given = ["--text", str(tmp_path / "own.txt"), "--positions", "60", "--no-unargmaxable"]
    found = head(tmp_path / "own", *given, "--truth", str(tmp_path / "other"), "--forced-positions", "4")
    text, shape = found["text"], found["model"]
    assert (text["tokens"], text["bytes"], text["positions"], text["special_mass"]) == (len(data), 60, 60, 0)
    assert {"width": 6, "tokens": 256, "excluded": 0, "tied": False, "bos": None}.items() <= shape.items()
    starts, length = np.linspace(0, len(data) - text["passage_tokens"], text["passages"]).astype(int), 64
    assert text["passage_tokens"] == length
    tokens = torch.tensor([list(data[start : start + length]) for start in starts])
    with torch.inference_mode():
        q, p = (models[name](tokens)[:, :-1].double().log_softmax(-1) for name in ("own", "other"))
    places = np.divmod(positions_of(q[..., 0].numel(), 60), length - 1)
    loss = -q[places[0], places[1], tokens[places[0], places[1] + 1]].mean()
    assert text["loss_per_byte"] == text["loss_per_token"] == pytest.approx(float(loss), rel=1e-5)
    at = tuple(place[positions_of(60, 4)] for place in places)
    kl = (p[at].exp() * (p[at] - q[at])).sum(-1).mean()
    assert found["forced"]["kl"]["mean"] == pytest.approx(float(kl), rel=1e-4)
    assert found["forced"]["forced"]["mean"] > 0
    line = refused("head", llama, *given, "--truth", tmp_path / "own")
    assert f"{tmp_path / 'own'}: it reads bytes, and the other model does not: of token 0, id 2 is" in line
    assert "its tokenizer is not the study's" not in line


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


@pytest.mark.parametrize("cap", [30.0, 0.5])
def test_a_model_that_caps_its_logits(tmp_path, capsys, cap):
    """Loss and KL are of the capped logits of transformers; what is left out is said; unargmaxable tokens stay."""
    reference, plain = write_gemma2(tmp_path / "soft", 2000, cap), tmp_path / "plain"
    write_gemma2(tmp_path / "truth", 2000, 5.0, std=0.2)
    write_gemma2(plain, 2000, None)
    (tmp_path / "own.txt").write_text(TEXT, encoding="utf-8")
    tokens, vocabulary = tokenized(tmp_path / "soft")
    ids, count = torch.from_numpy(vocabulary.ids).long(), len(tokens) - 1
    given = ["--text", str(tmp_path / "own.txt"), "--positions", str(count), "--no-unargmaxable"]
    given += ["--truth", str(tmp_path / "truth"), "--forced-positions", str(count)]
    found = head(tmp_path / "soft", *given)
    printed = " ".join(capsys.readouterr().out.split())
    with torch.inference_mode():
        logits = reference(ids[tokens][None]).logits[0, :-1, ids].double()
        truth = AutoModelForCausalLM.from_pretrained(tmp_path / "truth", dtype=torch.float32)
        p = truth(ids[tokens][None]).logits[0, :-1, ids].double().log_softmax(-1)
    log_q = logits.log_softmax(-1)
    assert found["model"]["cap"] == cap
    assert found["tbat"] is None
    assert found["text"]["loss_per_token"] == pytest.approx(
        -float(log_q[torch.arange(count), torch.from_numpy(tokens[1:])].mean()), rel=1e-5
    )
    kl = float((p.exp() * (p - log_q)).sum(-1).mean())
    assert found["forced"]["kl"]["mean"] == pytest.approx(kl, rel=1e-4)
    assert [found["forced"][name] for name in ("forced", "share", "gap", "proved")] == [None] * 4
    assert f"no bias; logits capped, {cap:g} tanh(z / {cap:g})" in printed
    assert f"KL to truth {kl:.3f} nats ({count} positions in 1 passages)" in printed
    assert "Left out are TBAT and what the head forces: both need logits that are linear in what enters" in printed
    assert "keeps the order of the logits, so unargmaxable tokens are the same with it and without." in printed
    other = head(plain, "--no-unargmaxable")
    assert other["model"]["cap"] is None
    assert found["spectrum"] == other["spectrum"]
    assert "Left out" not in capsys.readouterr().out


def test_a_cap_changes_no_unargmaxable_token(tmp_path):
    for name, cap in (("soft", 0.5), ("plain", None)):
        model = write_gemma2(tmp_path / name, 301, cap)
        one, other = tokenized(tmp_path / name)[1].ids[list(TWINS)]
        with torch.no_grad():
            model.get_output_embeddings().weight[one] = model.get_output_embeddings().weight[other]
        model.save_pretrained(tmp_path / name)
    soft, plain = (head(tmp_path / name)["unargmaxable"] for name in ("soft", "plain"))
    assert soft == plain
    assert soft["low"] == 2


def test_mistakes_are_one_line(llama, tmp_path, refused):
    short, other = tmp_path / "short.txt", tmp_path / "other.txt"
    short.write_text("the")
    other.write_text(TEXT)
    count = len(tokenized(llama)[0])
    enough = f"other.txt: it has {count} tokens, of which {count - 1} can be predicted; give a longer text, or lower"
    for message, *arguments in (
        (f"{tmp_path}/none: no such folder", tmp_path / "none"),
        ("--revision main: ", llama, "--revision", "main"),
        ("out.json: not a file in an existing", llama, "--json", tmp_path / "none/out.json"),
        ("none.txt: it cannot be read (No such file", llama, "--text", tmp_path / "none.txt"),
        ("short.txt: at least 2 tokens are needed to predict one, and it has 1", llama, "--text", short),
        (enough, llama, "--text", other, "--positions", "64"),
        ("--positions 0 must be at least 1", llama, "--positions", 0),
        ("--forced-positions 0 must be at least 1", llama, "--forced-positions", 0),
        ("--tbat-positions -1", llama, "--tbat-positions", -1),
        ("--delta 21", llama, "--delta", 21),
        ("--mass-tolerance 2", llama, "--mass-tolerance", 2),
    ):
        assert message in refused("head", *arguments)
    (llama / "tokenizer.json").unlink()
    assert "tokenizer.json: no such file" in refused("head", llama)


def test_the_schema_describes_every_value(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["head", "--schema"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
    Draft202012Validator.check_schema(SCHEMA)

    def described(schema):
        for name, part in schema.get("properties", {}).items():
            assert part["description"].endswith("."), name
            described(part)
            described(part.get("items", {}))

    described(SCHEMA)


def test_a_gguf_file_is_converted_once_and_again_when_it_has_changed(tmp_path, monkeypatch, capsys):
    source = write_small_gguf(tmp_path / "small.gguf")
    (tmp_path / "t.txt").write_text(TEXT)
    more = ["--text", "t.txt", "--positions", "8", "--tbat-positions", "0", "--no-unargmaxable", "--device", "cpu"]
    monkeypatch.chdir(tmp_path)

    def measured(name):
        assert main(["head", name, *more, "--json", "out.json"]) == 0
        capsys.readouterr()
        return json.loads((tmp_path / "out.json").read_text())

    first = measured("small.gguf")
    assert first["source"]["folder"] == "assets/gguf-small.gguf"
    of_source = measured(str(source))
    assert {key: value for key, value in first.items() if key != "source"} == {
        key: value for key, value in of_source.items() if key != "source"
    }
    made = (tmp_path / "assets/gguf-small.gguf/config.json").stat().st_mtime_ns
    measured("./small.gguf")
    measured("small.gguf")
    assert (tmp_path / "assets/gguf-small.gguf/config.json").stat().st_mtime_ns == made
    write_small_gguf(tmp_path / "small.gguf", division="smollm")
    measured("small.gguf")
    assert (tmp_path / "assets/gguf-small.gguf/config.json").stat().st_mtime_ns > made
    (tmp_path / "small.gguf").unlink()
    assert main(["head", "small.gguf"]) == 1
    assert "Error: small.gguf: no such file (searched from " in capsys.readouterr().err
    assert main(["head", "small.gguf", "--revision", "r"]) == 1
    assert "--revision r: small.gguf is a path" in capsys.readouterr().err
