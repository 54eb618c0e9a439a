"""The study in the real DAG, on a small model with random weights and two texts."""

import json

import numpy as np
import pytest
import torch
from hub_models import TEXT, write_token_model
from safetensors.numpy import load_file
from scipy.optimize import minimize
from scipy.special import logsumexp
from study import TINY
from transformers import AutoModelForCausalLM

from oversmoothing.store.parquet import read_table, vectors
from oversmoothing.tables.record import read_record
from studies.real_head.documents import Documents
from studies.real_head.truths import Choice, Head, distributions

TABLE = "results/tables/real_head.csv"
CONFIG = """
real_head:
  model: llama
  precision: float32
  texts: [{name: letters, paths: [letters.jsonl]}, {name: rivers, paths: [rivers.jsonl]}]
  documents: 6
  tokens: 40
  short: 16
  neighbours: 8
  sharpness: [1, 4]
  positions: 9
  controls: 4
  ranks: [4]
  sphere: {positions: 3}
"""


@pytest.fixture
def studied(copy):
    write_token_model(copy.folder / "llama", "llama")
    words = TEXT.split()
    for name, seed in (("letters", 0), ("rivers", 1)):
        draw = np.random.default_rng(seed)
        documents = [" ".join(draw.permutation(words)[:80]) for _ in range(7)]
        lines = [json.dumps({"text": own}) for own in (*documents, "short")]
        (copy.folder / f"{name}.jsonl").write_text("\n".join(lines))
    (copy.folder / "head.yaml").write_text(CONFIG)
    return copy


def test_the_study_in_the_real_dag(studied):
    config, folder = (TINY, "head.yaml"), studied.folder / "results/real_head"
    studied.snakemake(TABLE, config=config)
    assert studied.planned(TABLE, config=config) == {}
    states_are_those_of_the_model(studied.folder, folder / "states/letters.parquet")
    what_is_forced_is_what_scipy_finds(folder)
    norm_and_head_force_what_scipy_finds(studied.folder, folder)
    table = read_record(studied.folder / TABLE)
    own = table[table["rank"].isna()].set_index(["text", "truth", "measure"])
    assert own.loc[("letters", "all", "kl")].n == 9
    assert own.loc[("rivers", "neural", "kl")].n == 4
    assert own.loc[("letters", "all", "gain")].n == 3 * 39  # at all positions of the documents held out
    for truth in ("longer", "flatter"):  # the head can give them
        assert own.loc[("letters", truth, "kl")].value > 1e-4
        assert own.loc[("letters", truth, "forced")].value < 1e-6
    assert 0 < own.loc[("letters", "all", "forced")].value < own.loc[("letters", "all", "kl")].value
    forced = own.loc[("letters", "all", "norm_forced")].value
    assert own.loc[("letters", "all", "norm_head")].value <= own.loc[("letters", "all", "norm_least")].value <= forced
    assert own.loc[("letters", "all", "norm_adds")].n == 3
    assert own.loc[("letters", "longer", "norm_forced")].value < 1e-5  # the norm gave it, but for its epsilon
    assert set(table["rank"].dropna()) == {4}
    page = studied.folder / "results/tables/real_head.md"
    assert "## Text `rivers`: the head truncated" in page.read_text()
    refused = studied.snakemake(TABLE, config=config, options=["--config", "real_head={documents: 8}"], check=False)
    assert (
        "real_head.texts: letters has 7 documents of 40 tokens or more, and real_head.documents asks for 8" in refused
    )


def states_are_those_of_the_model(project, path):
    """The head read what transformers gives after all tokens before, and after at most 16."""
    documents = Documents(path)
    passage, short = documents.passage(3), documents.passage(3, "short_state")
    model = AutoModelForCausalLM.from_pretrained(project / "llama").eval()
    table = read_table(path)
    ids = torch.tensor(passage.tokens)  # the test's tokenizer has its tokens in the order of their ids
    head = load_file(path.with_suffix(".head.safetensors"))["head.weight"]
    rows = [np.flatnonzero((model.lm_head.weight.detach().numpy() == row).all(axis=1))[0] for row in head]
    ids = torch.tensor(rows)[ids]

    def entered(part):
        return model.model(input_ids=part[None]).last_hidden_state[0].detach().numpy()

    np.testing.assert_allclose(passage.states, entered(ids)[:-1], atol=1e-5)
    np.testing.assert_allclose(short.states[:16], entered(ids[:16]), atol=1e-5)
    np.testing.assert_allclose(short.states[20], entered(ids[8:21])[-1], atol=1e-5)  # after 13 tokens
    np.testing.assert_allclose(short.states[38], entered(ids[24:39])[-1], atol=1e-5)
    assert vectors(table["state"].combine_chunks()).shape == (6 * 40, 16)


def what_is_forced_is_what_scipy_finds(folder):
    """At one position: the truth is made again from what was chosen, and minimised over what enters the head."""
    row = read_table(folder / "forced/letters/all.parquet").to_pylist()[4]
    p, state, divergence = at(folder, row)
    found = minimize(divergence, state, jac=True, method="BFGS", options={"gtol": 1e-9})
    assert row["kl"] == pytest.approx(divergence(state)[0], abs=1e-7)
    assert row["forced"] == pytest.approx(found.fun, abs=1e-7)
    token = int(Documents(folder / "states/letters.parquet").passage(row["document"]).next[row["position"]])
    assert row["loss_truth"] == pytest.approx(-np.log(p[token]))


def norm_and_head_force_what_scipy_finds(project, folder):
    """The gain is the model's, states lie on its ellipsoid, and SLSQP comes no lower there."""
    norm = json.loads((folder / "norm.json").read_text())
    gain = AutoModelForCausalLM.from_pretrained(project / "llama").model.norm.weight.detach().numpy()
    np.testing.assert_allclose(norm["gain"], gain, rtol=1e-5)
    assert not norm["centres"]
    np.testing.assert_allclose(norm["bias"], 0, atol=1e-6)
    length = {"type": "eq", "fun": lambda s: s @ s - len(gain), "jac": lambda s: 2 * s}
    rows = read_table(folder / "sphere/letters/all.parquet").to_pylist()
    measured = read_table(folder / "forced/letters/all.parquet").to_pylist()
    assert [row["position"] for row in rows] == [measured[i]["position"] for i in (1, 4, 7)]
    for row in rows:
        _, state, divergence = at(folder, row)
        assert np.linalg.norm(state / gain) == pytest.approx(np.sqrt(len(gain)), rel=1e-2)

        def value(s, divergence=divergence):
            height, gradient = divergence(gain * s)
            return height, gain * gradient

        draw = np.random.default_rng(0)
        starts = [state / gain, *draw.normal(size=(6, len(gain)))]
        options = {"ftol": 1e-13, "maxiter": 500}
        ends = [minimize(value, s, jac=True, constraints=[length], options=options, method="SLSQP") for s in starts]
        lowest = min(end.fun for end in ends if abs(end.x @ end.x - len(gain)) < 1e-6)
        assert row["norm_forced"] == pytest.approx(lowest, abs=1e-6)
        assert row["norm_forced"] - row["norm_gap"] <= lowest + 1e-7


def at(folder, row):
    """Return the truth `all`, the state and the divergence, with its gradient, of what enters the head at a row."""
    documents = Documents(folder / "states/letters.parquet")
    chosen = json.loads((folder / "choice/letters.json").read_text())
    choice = Choice(*(chosen[name] for name in ("sharpness", "parts", "scale", "neighbours")))
    head = Head.read(folder / "states/letters.head.safetensors")
    (p,), states = distributions(documents, row["document"], [row["position"]], "all", choice, head)

    def divergence(state):
        logits = head.weights @ state + head.bias
        log_q = logits - logsumexp(logits)
        return float(p @ (np.log(p) - log_q)), head.weights.T @ (np.exp(log_q) - p)

    return p, states[0].astype(float), divergence
