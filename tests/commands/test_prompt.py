"""The command that asks every model: what it shows, and how it refuses."""

import re

import pytest
import torch
from rich.cells import cell_len

from oversmoothing.commands import main, prompt
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_model, save_model
from oversmoothing.scores.catalogue.decoders import Method, Parameter, methods


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
    assert max(map(cell_len, lines)) <= 80
    model = load_model(models.replace("*", "bn4-s1"))
    p = model(torch.tensor([list(b"The capital of")]))[0, -1].softmax(dim=0)
    assert f"{100 * p.max():.1f} %" in lines[5]


def test_the_seed_decides_the_sample_and_models_share_it(models):
    first, again, other = (prompt.ask(b"Of", models, "pure", 30, seed) for seed in (1, 1, 2))
    assert [answer.sample for answer in first] == [answer.sample for answer in again]
    assert first[0].sample != other[0].sample
    longer = prompt.ask(b"Of", models, "pure", 50, 1)
    assert all(long.sample.startswith(short.sample) for long, short in zip(longer, first, strict=True))
    fitting = prompt.ask(b"x" * 60, models, "pure", None, 1)  # as many as the smallest block leaves room for
    assert {len(answer.sample) for answer in fitting} == {4}


def test_a_value_is_that_of_the_first_parameter(models, monkeypatch):
    for text, kept in (("top-k=3", 3), ("greedy", 1)):
        assert all(len(answer.top()) == kept for answer in prompt.ask(b"Of", models, text, 1, 1))
    two = Method(None, (Parameter("k", 5, low=1, whole=True), Parameter("more", 2.0)))
    monkeypatch.setitem(methods(), "top-k", two)
    assert prompt.entry_of("top-k=3") == {"name": "top-k", "k": 3, "more": 2.0}
    assert prompt.entry_of("temperature=3  greedy") == {"chain": [{"temperature": {"temperature": 3}}, {"greedy": {}}]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([""], "the prompt is empty"),
        (["x" * 64], "block of bn16-s1 64; shorten"),
        (["Of", "--bytes", "63"], "bn16-s1 has room for 1 to 62"),
        (["Of", "--bytes", "0"], "--bytes 0 does not fit"),
        (["Of", "--seed", "9" * 23], "lies outside 0 to 4294967295"),
        (["Of", "--html", "no/such/page.html"], "not a file in an existing folder"),
        (["Of", "--decoding", "topk"], "did you mean top-k"),
        (["Of", "--decoding", "zzzz"], "use epsilon, eta, greedy, min-k, min-p"),
        (["Of", "--decoding", "top-k=x"], "'x' is not a number"),
        (["Of", "--decoding", "top-k=0"], "k = 0"),
        (["Of", "--decoding", "pure=1"], "pure takes no value"),
        (["Of", "--decoding", "bat=-1"], "delta = -1 is not a number in [0, 20]"),
        (["Of", "--decoding", "temperature=2 minp"], "unknown name 'minp'; did you mean min-p?"),
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
    for vocabulary, decoding, message in (
        (256, "bat", "w.safetensors: decoding bat: weights: row 3 has NaN"),
        (300, "pure", "w.safetensors: a model over tokens"),
    ):
        model = GPT(GPTConfig(layers=1, heads=2, width=16, block=64, rank=4, vocabulary=vocabulary))
        with torch.no_grad():
            model.head.weight[3] = float("nan")
        save_model(tmp_path / "w.safetensors", model.config, model.state_dict(), {})
        assert message in refused(*given, "--decoding", decoding)
    weights = tmp_path / "models/bn4-s1/weights.safetensors"
    model = GPT(GPTConfig(layers=1, heads=2, width=16, block=64))  # of as many tokens as there are bytes
    save_model(weights, model.config, model.state_dict(), {})
    (tmp_path / "tokens").mkdir()
    (tmp_path / "tokens/vocabulary.parquet").touch()
    assert "weights.safetensors: a model over tokens" in refused("prompt", "Of", "--models", weights)


def test_html_is_one_page_that_loads_nothing(models, capsys, tmp_path):
    path = tmp_path / "answer.html"
    status, out, _ = run(capsys, "<script>é", "--models", models, "--bytes", "20", "--html", str(path))
    assert status == 0
    assert f"Wrote {path}" in out
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img)| (src|href)=", page)
    assert (page.count("<article"), page.count("<tr")) == (2, 20)
