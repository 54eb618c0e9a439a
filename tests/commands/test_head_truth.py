"""What a head forces of its distance from a truth, on a text: against SciPy's minimum of the logits of transformers."""

import json
import shutil

import numpy as np
import pytest
import torch
from hub_models import edit, write_neox, write_token_model
from jsonschema import Draft202012Validator
from scipy.optimize import linprog, minimize
from scipy.special import log_softmax, logsumexp, rel_entr
from tokenizers import Tokenizer, normalizers
from transformers import AutoModelForCausalLM

from oversmoothing.commands import head as command
from oversmoothing.commands import main
from oversmoothing.commands.one_head.forced import forced
from oversmoothing.commands.one_head.schema import SCHEMA
from oversmoothing.commands.one_head.source import tokenizer_of
from oversmoothing.data.tokens.text import encode

TEXT = "the people of the town read their letters where the river flows past; ünd so on"


pytestmark = pytest.mark.usefixtures("no_network")


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def truth(tmp_path, request):
    write_token_model(tmp_path / "truth", getattr(request, "param", "llama"))
    return tmp_path / "truth"


def head(model, truth, text, *options, quick=("--no-unargmaxable",)):
    """Run the command; return its JSON, after a check against the schema."""
    path = model / "out.json"
    more = ["--precision", "float32", "--tbat-positions", "0", *quick, *options]
    arguments = [model, "--truth", truth, "--text", text, "--json", path, *more]
    assert main(["head", *map(str, arguments)]) == 0
    found = json.loads(path.read_text())
    Draft202012Validator(SCHEMA).validate(found)
    return found


def tokenized(folder):
    """Return the tokens of the text, and the ids of all tokens."""
    tokenizer, vocabulary = tokenizer_of(folder)
    return encode(tokenizer, vocabulary, TEXT), torch.from_numpy(vocabulary.ids).long()


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
    ("name", "truth"), [("gpt2", "llama"), ("neox", "llama"), ("phi", "gemma2")], indirect=["truth"]
)
def test_both_lines_are_those_of_transformers_and_scipy(name, tmp_path, truth, text, capsys):
    write_token_model(tmp_path / name, name)
    tokens, ids = tokenized(truth)
    count = len(tokens) - 1
    found = head(tmp_path / name, truth, text, "--positions", str(count), "--forced-positions", "6")["forced"]
    at = ((np.arange(6) + 0.5) * count / 6).astype(int)
    p = np.exp(log_softmax(logits_of(truth, tokens, ids)[0][at], axis=1))
    logits, weights, bias = logits_of(tmp_path / name, tokens, ids)
    kl = rel_entr(p, np.exp(log_softmax(logits[at], axis=1))).sum(axis=1)
    expected = [least(weights, bias, row) for row in p]
    assert found["kl"]["mean"] == pytest.approx(kl.mean(), rel=1e-5)
    assert found["forced"]["mean"] == pytest.approx(np.mean(expected), rel=1e-5)
    assert found["share"]["mean"] == pytest.approx(np.mean(expected) / kl.mean(), rel=1e-5)
    assert 0.01 < found["share"]["mean"] < 0.99
    assert (found["positions"], found["proved"], found["passages"]) == (6, 6, 1)
    assert found["gap"] < 1e-9
    assert found["truth"] == {"name": str(truth), "folder": str(truth), "revision": None, "commit": None}
    printed = capsys.readouterr().out
    share = found["share"]["mean"]
    values = f"{kl.mean():.3f} nats, of which this head forces {np.mean(expected):.3f} ({share:.0%})"
    assert f"KL to truth               {values}\n" in printed
    assert "(6 positions in 1 passages; the forced part is proved to 0.1 % at all, largest gap " in printed


def test_the_interval_of_two_passages_by_hand():
    """Of two passages of one position each, a draw has the first alone, the second alone, or both."""
    weights = np.array([[1.0], [-1.0], [0.0]])
    p = np.array([[0.2, 0.2, 0.6], [0.4, 0.4, 0.2]])
    log_q = np.log(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]))
    kl = rel_entr(p, np.exp(log_q)).sum(axis=1)
    mine = np.log(3) - [-(row @ np.log(row)) for row in p]  # of both, the uniform distribution is the nearest
    found = forced((weights, None), p, log_q, np.array([3, 7]))
    assert found["passages"] == 2
    for name, values in (("kl", kl), ("forced", mine)):
        assert found[name] == pytest.approx({"mean": values.mean(), "low": values.min(), "high": values.max()})
    shares = mine / kl
    assert found["share"] == pytest.approx({"mean": mine.sum() / kl.sum(), "low": shares.min(), "high": shares.max()})


def test_the_truths_likeliest_sets_are_ranked_as_linear_programs_say(tmp_path, truth, text, capsys):
    write_token_model(tmp_path / "gpt2", "gpt2")
    given = "--positions", "9", "--forced-positions", "4"
    found = head(tmp_path / "gpt2", truth, text, *given, quick=())["top_sets"]
    tokens, ids = tokenized(truth)
    places = ((np.arange(9) + 0.5) * (len(tokens) - 1) / 9).astype(int)[((np.arange(4) + 0.5) * 9 / 4).astype(int)]
    likeliest = np.argsort(-logits_of(truth, tokens, ids)[0][places], axis=1)
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


def test_beside_itself_a_model_is_the_truth(truth, text, capsys):
    found = head(truth, truth, text, "--positions", "9")["forced"]
    assert found["kl"]["mean"] == pytest.approx(0, abs=1e-12)
    assert found["share"] is None
    assert "KL to truth               0.000 nats, of which this head forces 0.000\n" in capsys.readouterr().out


def test_a_shorter_context_of_the_truth_is_respected(tmp_path, truth, text):
    write_token_model(tmp_path / "gpt2", "gpt2")
    text.write_text(" ".join([TEXT] * 20), encoding="utf-8")
    edit(truth / "config.json", max_position_embeddings=20)
    assert head(tmp_path / "gpt2", truth, text)["text"]["passage_tokens"] == 20


def test_mistakes_are_found_before_weights_are_read(tmp_path, truth, text, monkeypatch, refused):
    monkeypatch.setattr(command, "load", lambda *others: pytest.fail("it read weights"))
    other, few, small, short = (tmp_path / name for name in ("other", "few", "small", "short"))
    write_neox(other)
    write_token_model(few, "gpt2", rows=290)
    own = Tokenizer.from_file(str(truth / "tokenizer.json"))
    for folder, own.normalizer in ((small, normalizers.Lowercase()), (short, normalizers.Replace("people", "folk"))):
        shutil.copytree(truth, folder)
        own.save(str(folder / "tokenizer.json"))
    for message, model, beside in (
        (f"{other}: its tokenizer is not", truth, other),
        ("has only 290 rows", truth, few),
        ("none: no such folder", truth, tmp_path / "none"),
        (f"{small}: its tokenizer is not the study's: its tokens are the same, but at \"The water's", truth, small),
        ("own.txt: it has 35 tokens, of which 34 can be predicted", truth, truth),
    ):
        assert message in refused("head", model, "--truth", beside, "--text", text)
    line = refused("head", truth, "--truth", short, "--text", text, "--positions", 9)  # which the probe does not show
    assert (
        f"{short}: its tokenizer is not the study's: its tokens are the same, but at ' people of the t' it has" in line
    )
    message = f"--truth {truth}: both models are run on a text; name one with --text"
    assert message in refused("head", truth, "--truth", truth)
