"""The study in the real DAG, on a small model with random weights."""

import json
import shutil

import numpy as np
import pytest
import torch
from hub_models import TEXT, write_token_model
from safetensors.numpy import load_file
from scipy.optimize import minimize
from scipy.special import logsumexp
from study import TINY
from transformers import AutoModelForCausalLM

from oversmoothing.data.tokens.vocabulary import FAST, load_tokenizer, vocabulary_of
from oversmoothing.hub.client import take_stock
from oversmoothing.hub.manifest import MODEL_FILES
from oversmoothing.jobs import UserError
from oversmoothing.store.parquet import read_table
from oversmoothing.store.sealed_json import write_sealed
from oversmoothing.tables.record import read_record
from studies.real_head.documents import Documents
from studies.real_head.states import documents
from studies.real_head.truths import Choice, Head, distributions

TABLE, STATES = "results/tables/real_head.csv", "results/real_head/states/letters.parquet"
CONFIG = """
real_head:
  model: llama
  precision: float32
  texts: [{name: letters, paths: [letters.jsonl]}]
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


def test_the_study_in_the_real_dag(copy):
    write_token_model(copy.folder / "llama", "llama")
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.permutation(TEXT.split())[:80]) for _ in range(7)]
    lines = [json.dumps({"text": own}) for own in (*texts, "short")]
    (copy.folder / "letters.jsonl").write_text("\n".join(lines))
    (copy.folder / "head.yaml").write_text(CONFIG)
    config, folder = (TINY, "head.yaml"), copy.folder / "results/real_head"
    copy.snakemake(TABLE, config=config)
    assert copy.planned(TABLE, config=config) == {}
    states_are_those_of_the_model(copy.folder, folder / "states/letters.parquet")
    what_is_forced_is_what_scipy_finds(folder)
    norm_and_head_force_what_scipy_finds(copy.folder, folder)
    table = read_record(copy.folder / TABLE)
    own = table[table["rank"].isna()].set_index(["truth", "measure"])
    assert own.loc[("all", "kl")].n == 9
    assert own.loc[("neural", "kl")].n == 4
    assert own.loc[("all", "gain")].n == 3 * 39  # at all positions of the documents held out
    for truth in ("longer", "flatter"):  # the head can give them
        assert own.loc[(truth, "kl")].value > 1e-4
        assert own.loc[(truth, "forced")].value < 1e-6
    assert 0 < own.loc[("all", "forced")].value < own.loc[("all", "kl")].value
    head, least, forced = (own.loc[("all", f"norm_{name}")] for name in ("head", "least", "forced"))
    assert head.value <= least.value <= forced.value
    assert forced.n == 3
    assert own.loc[("longer", "norm_forced")].value < 1e-5  # the norm gave it, but for its epsilon
    assert "## Text `letters`: the head truncated" in (copy.folder / "results/tables/real_head.md").read_text()
    tokenizer = load_tokenizer(copy.folder / "llama" / FAST)
    read = {"name": "letters", "paths": [str(copy.folder / "letters.jsonl")], "column": "text"}
    with pytest.raises(UserError, match=r"letters has 7 documents of 40 tokens or more, and .* asks for 8; name more"):
        documents(read, tokenizer, vocabulary_of(tokenizer, FAST), 8, 40)
    states_of_another_text_are_refused(copy, config, lines)
    the_manifest_of_another_model_is_refused(copy, config)


def states_of_another_text_are_refused(project, config, lines):
    """Under one name and path, and put back over the states of the new text."""
    states = project.folder / STATES
    before = states.read_bytes()
    (project.folder / "letters.jsonl").write_text("\n".join(reversed(lines)))
    project.snakemake(STATES, config=config)
    states.write_bytes(before)
    said = f"{STATES}: made from files of real_head_states letters, which was made with digest"
    assert said in project.snakemake(TABLE, config=config, check=False)


def the_manifest_of_another_model_is_refused(project, config):
    shutil.copytree(project.folder / "llama", project.folder / "other")
    manifest = take_stock(project.folder / "other", MODEL_FILES)
    write_sealed(project.folder / "assets/folder-llama.json", manifest)
    output = project.snakemake(STATES, config=config, check=False)
    assert "assets/folder-llama.json: of another model: its folder is" in output


def states_are_those_of_the_model(project, path):
    """The head read what transformers gives after all tokens before, and after at most 16."""
    passage, short = Documents(path).passage(3), Documents(path).passage(3, "short_state")
    model = AutoModelForCausalLM.from_pretrained(project / "llama").eval()
    ids = torch.tensor(passage.tokens)  # the test's tokenizer has its tokens in the order of their ids
    head = load_file(path.with_suffix(".head.safetensors"))["head.weight"]
    rows = [np.flatnonzero((model.lm_head.weight.detach().numpy() == row).all(axis=1))[0] for row in head]
    ids = torch.tensor(rows)[ids]

    def entered(part):
        return model.model(input_ids=part[None]).last_hidden_state[0].detach().numpy()

    np.testing.assert_allclose(passage.states, entered(ids)[:-1], atol=1e-5)
    np.testing.assert_allclose(short.states[:16], entered(ids[:16]), atol=1e-5)
    np.testing.assert_allclose(short.states[20], entered(ids[8:21])[-1], atol=1e-5)  # after 13 tokens
    assert len(read_table(path)) == 6 * 40


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
    norm = json.loads((folder / "states/letters.norm.json").read_text())
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
    read, choice = Documents(folder / "states/letters.parquet"), Choice.read(folder / "choice/letters.json")
    head = Head.read(folder / "states/letters.head.safetensors")
    (p,), states = distributions(read, row["document"], [row["position"]], "all", choice, head)

    def divergence(state):
        logits = head.weights @ state + head.bias
        log_q = logits - logsumexp(logits)
        return float(p @ (np.log(p) - log_q)), head.weights.T @ (np.exp(log_q) - p)

    return p, states[0].astype(float), divergence
