"""The command that asks every model: what it shows, and how it refuses."""

from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from oversmoothing.commands import main, prompt
from oversmoothing.jobs import UserError
from oversmoothing.models.model import GPT, GPTConfig
from oversmoothing.models.weights import load_model, save_model
from oversmoothing.scores.catalogue.decoders import Method, Parameter, methods
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.decodings.top_k import top_k


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two untrained models with blocks of 64 and 96 bytes, sharpened so that they differ."""
    folder = tmp_path_factory.mktemp("models")
    for name, rank, block in (("bn16-s1", 16, 64), ("bn4-s1", 4, 96)):
        config = GPTConfig(layers=1, heads=2, width=16, block=block, rank=rank)
        model = GPT(config, seed=rank)
        with torch.no_grad():
            model.head.weight.mul_(60)
        save_model(folder / name / "weights.safetensors", config, model.state_dict(), {})
    return str(folder / "*" / "weights.safetensors")


def run(capsys, *arguments):
    status = main(["prompt", *arguments])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_it_shows_every_model_side_by_side(models, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, err = run(capsys, "The capital of", "--models", models, "--bytes", "40")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Prompt: The capital of"
    assert lines[3].split() == ["bn4-s1", "bn16-s1"]  # 4 before 16
    assert max(map(prompt._width, lines)) <= 80
    model = load_model(models.replace("*", "bn4-s1"))
    p = model(torch.tensor([list(b"The capital of")]))[0, -1].softmax(dim=0)
    assert f"{100 * p.max():.1f} %" in lines[5]


def test_the_seed_decides_the_sample_and_models_share_it(models):
    first, again, other = (prompt.ask(b"Of", models, "pure", 30, seed) for seed in (1, 1, 2))
    assert [answer.sample for answer in first] == [answer.sample for answer in again]
    assert first[0].sample != other[0].sample
    longer = prompt.ask(b"Of", models, "pure", 50, 1)
    assert all(long.sample.startswith(short.sample) for long, short in zip(longer, first, strict=True))


def test_the_sample_is_drawn_one_byte_after_another(models):
    """Against a loop that runs the whole text through the model at every byte."""
    model = load_model(models.replace("*", "bn16-s1"))
    draws = prompt.draws_for(7, [0], 20, torch.device("cpu"))[:, 0].numpy()
    text = list(b"Of")
    for u in draws:
        p = top_k(model(torch.tensor([text]))[:, -1].softmax(dim=-1), 3)[0].detach().double().numpy()
        text.append(int(np.searchsorted(np.cumsum(p), u * p.sum(), side="right")))
    assert prompt.generate(model, b"Of", 20, lambda p: top_k(p, 3), 7) == bytes(text[2:])


def test_a_decodings_value_is_used(models):
    assert all(len(answer.top()) == 3 for answer in prompt.ask(b"Of", models, "top-k=3", 1, 1))
    assert all(len(answer.top()) == 1 for answer in prompt.ask(b"Of", models, "greedy", 1, 1))


def test_a_value_is_that_of_the_first_parameter(models, monkeypatch):
    kept = []
    parameters = Parameter("k", 5, low=1, whole=True), Parameter("more", 2.0)
    two = Method(lambda p, k, more: kept.append((k, more)) or p, parameters)
    monkeypatch.setitem(methods(), "top-k", two)
    monkeypatch.setattr("oversmoothing.scores.decodings.top_k.METHOD", two)
    prompt.choose_decoding("top-k=3")("", load_model(models.replace("*", "bn4-s1")))(np.ones((1, 256)))
    assert kept == [(3, 2.0)]


def test_several_decodings_follow_one_another(models):
    links = [{"temperature": 3}, {"min-p": 0.5}, "greedy"]
    p = np.random.default_rng(0).dirichlet(np.ones(256), 4)
    for text, first in (("temperature=3  min-p=0.5", 2), ("temperature=3 min-p=0.5 greedy", 3)):
        decode = prompt.choose_decoding(text)("", load_model(models.replace("*", "bn4-s1")))
        np.testing.assert_array_equal(decode(p), decoder({"chain": links[:first]})(p))


def test_without_a_length_the_smallest_block_decides(models):
    assert {len(answer.sample) for answer in prompt.ask(b"x" * 60, models, "pure", None, 1)} == {4}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([""], "the prompt is empty"),
        (["x" * 64], "block of bn16-s1 64; shorten"),
        (["Of", "--bytes", "63"], "bn16-s1 has room for 1 to 62"),
        (["Of", "--bytes", "0"], "--bytes 0 does not fit"),
        (["Of", "--seed", "-1"], "--seed -1"),
        (["Of", "--seed", "9" * 23], "lies outside 0 to 4294967295"),
        (["Of", "--html", "."], "--html .: not a file in an existing folder"),
        (["Of", "--html", "no/such/page.html"], "not a file in an existing folder"),
        (["Of", "--decoding", "temperature=1e-50"], "1e-50"),
        (["Of", "--decoding", "topk"], "did you mean top-k"),
        (["Of", "--decoding", "zzzz"], "use epsilon, eta, greedy, min-k, min-p"),
        (["Of", "--decoding", "top-k=x"], "'x' is not a number"),
        (["Of", "--decoding", "top-k=0"], "k = 0"),
        (["Of", "--decoding", "top-p=1.5"], "p = 1.5"),
        (["Of", "--decoding", "pure=1"], "pure takes no value"),
        (["Of", "--decoding", "bat=-1"], "delta = -1 is not a number in [0, 20]"),
        (["Of", "--decoding", "temperature=2 minp"], "unknown name 'minp'; did you mean min-p?"),
        (["Of", "--decoding", "temperature=2 top-k=0"], "k = 0"),
        (["Of", "--decoding", "temperature=2, min-p"], "'2,' is not a number"),
        (["Of", "--decoding", "temperature=2 bat=0.2"], "bat maps no distributions and can be no link"),
    ],
)
def test_mistakes_are_one_clear_line(models, refused, arguments, says):
    assert says in refused("prompt", *arguments, "--models", models)


def test_what_is_no_model_is_named(tmp_path, refused):
    given = "prompt", "Of", "--models", tmp_path / "*"
    assert "train them with `make`" in refused(*given)
    (tmp_path / "w.safetensors").write_bytes(b"not weights")
    assert "w.safetensors: not a complete" in refused(*given)
    (tmp_path / "config.yaml").write_text("a: 1")
    assert "config.yaml is not a safetensors file" in refused(*given)


def test_bat_names_the_weights_that_are_no_numbers(tmp_path):
    config = GPTConfig(layers=1, heads=2, width=16, block=64, rank=4)
    model = GPT(config, seed=1)
    with torch.no_grad():
        model.head.weight[3] = float("nan")
    save_model(tmp_path / "w.safetensors", config, model.state_dict(), {})
    with pytest.raises(UserError, match=r"w\.safetensors: its head: weights: row 3 has NaN"):
        prompt.ask(b"Of", str(tmp_path / "*"), "bat", 1, 1)


def test_a_model_over_tokens_is_not_given_bytes(tmp_path):
    config = GPTConfig(layers=1, heads=2, width=16, block=16, vocabulary=300)
    weights = tmp_path / "results/models/bn16-s1/weights.safetensors"
    save_model(weights, config, GPT(config).state_dict(), {})
    prompt.ask(b"Of", str(weights), "pure", 1, 1)
    (tmp_path / "results/tokens").mkdir()
    (tmp_path / "results/tokens/vocabulary.parquet").touch()
    with pytest.raises(UserError, match=r"bn16-s1/weights\.safetensors: a model over tokens"):
        prompt.ask(b"Of", str(weights), "pure", 1, 1)


def test_html_is_one_page_that_loads_nothing(models, capsys, tmp_path):
    path = tmp_path / "answer.html"
    status, out, _ = run(capsys, "<script>é", "--models", models, "--bytes", "20", "--html", str(path))
    assert status == 0
    assert f"Wrote {path}" in out
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append((tag, dict(attrs)))
    parser.feed(path.read_text(encoding="utf-8"))
    names = [tag for tag, _ in tags]
    assert not {"script", "link", "img"} & set(names)
    assert names.count("article") == 2
    assert names.count("tr") == 20
    assert all("src" not in attributes and "href" not in attributes for _, attributes in tags)
