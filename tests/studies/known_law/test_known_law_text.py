"""Texts of a law: their distribution is its own, whatever the batch; its own weights are no distance from it."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from corpus_jobs import corpus_job
from scipy import special
from step_jobs import job

import build_corpus
import logits
from oversmoothing.data.reader import read_manifest, read_split
from oversmoothing.forced.division import divide
from oversmoothing.forced.head import prepare
from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.logit_files import read_logits
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_model, save_model, save_tensors
from oversmoothing.samples.generate import generate
from oversmoothing.scores.decoding import decoder
from oversmoothing.scores.probabilities import softmax
from oversmoothing.store.parquet import read_table
from studies.known_law import corpus, exact, own_contexts, text, weights
from studies.known_law.marked import marked

SHAPE = {"layers": 1, "heads": 2, "width": 16, "block": 48, "rank": None}
PROMPT, SAMPLED = 8, 32
COUNTS = {"train": 12, "validation": 4, "evaluation": 40}
PURE, TOP_P = {"name": "pure"}, {"name": "top-p", "p": 0.8}


@pytest.fixture(scope="module")
def law(tmp_path_factory):
    """A model whose distributions are far from uniform, and a corpus."""
    folder = tmp_path_factory.mktemp("law")
    model = GPT(GPTConfig(**SHAPE), 3).eval()
    with torch.no_grad():
        model.head.weight.mul_(150)
    save_model(folder / "law.safetensors", model.config, model.state_dict(), {})
    build_corpus.main(corpus_job(folder))
    return SimpleNamespace(folder=folder, model=model)


def drawn(law, name, decoding=PURE, batch=16, weights="law.safetensors", **counts):
    """Sequences of the law, and the windows to score."""
    inputs = {split: law.folder / f"corpus/{split}.bin" for split in COUNTS}
    inputs |= {"manifest": law.folder / "corpus/manifest.json", "weights": law.folder / weights}
    output = {"text": law.folder / f"{name}.parquet", "windows": law.folder / f"{name}.windows.parquet"}
    settings = {"sequences": COUNTS | counts, "prompt": PROMPT, "sampled": SAMPLED, "seed": 1, "decoding": decoding}
    text.main(job(inputs, output, {**settings, "batch": batch, "precision": "float32", "threads": 1}, law="l"))
    return read_table(output["text"]).to_pandas(), output["windows"]


@pytest.fixture(scope="module")
def pure(law):
    return drawn(law, "pure")


def of_law(law, windows, decoding=PURE, weights="law.safetensors"):
    """Log-probabilities of the law over its windows, by window."""
    states, written = law.folder / "s.parquet", law.folder / "exact.parquet"
    inputs = {"windows": windows, "weights": law.folder / weights}
    settings = {"batch": 8, "precision": "float32", "threads": 1}
    output = {"logits": states, "hidden": law.folder / "h.parquet"}
    logits.main(job(inputs, output, settings, {"shape": None}, model="m"))
    exact.main(job(states, written, {"decoding": decoding, "vocabulary": 256}, law="l"))
    return written, states


def rows(path):
    """Log-probabilities of all positions, float64 (n, v)."""
    logits = np.concatenate([window.model for window in read_logits(path, {})]).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.log(softmax(logits))


def test_a_text_is_as_surprising_to_its_law_as_the_law_is_uncertain(law, pure):
    sequences, windows = pure
    log_p = rows(of_law(law, windows)[0])
    targets = np.frombuffer(b"".join(sequences[sequences.split == "evaluation"].continuation), np.uint8)
    surprise, p = -log_p[np.arange(len(log_p)), targets], np.exp(log_p)
    entropy = -(p * log_p).sum(axis=1)
    error = np.sqrt(((p * log_p**2).sum(axis=1) - entropy**2).sum()) / len(p)
    assert entropy.mean() < 4  # far from log 256
    assert abs(surprise.mean() - entropy.mean()) < 3 * error


def test_a_text_does_not_depend_on_the_batch_nor_its_beginning_on_its_length(law, pure):
    other, _ = drawn(law, "other", batch=5, train=20)
    both = pure[0].merge(other, on=["split", "sequence"], suffixes=("", "_other"))
    assert len(both) == len(pure[0]) == sum(COUNTS.values())
    assert (both.prompt == both.prompt_other).all()
    assert (both.continuation == both.continuation_other).all()


def test_splits_have_prompts_of_their_own(law, pure):
    sequences, _ = pure
    prompts = {split: set(part.prompt) for split, part in sequences.groupby("split")}
    assert set(map(len, sequences.prompt)) == {PROMPT}
    assert set(map(len, sequences.continuation)) == {SAMPLED}
    for split, own in prompts.items():
        real = (law.folder / f"corpus/{split}.bin").read_bytes()
        assert all(prompt in real for prompt in own)
        assert not all(prompt in real for other in prompts if other != split for prompt in prompts[other])


def test_a_text_under_a_truncation_never_holds_an_impossible_byte(law):
    sequences, windows = drawn(law, "zeros", TOP_P)
    log_p = rows(of_law(law, windows, TOP_P)[0])
    targets = np.frombuffer(b"".join(sequences[sequences.split == "evaluation"].continuation), np.uint8)
    assert (np.isneginf(log_p)).mean() > 0.5
    assert np.isfinite(log_p[np.arange(len(log_p)), targets]).all()
    logit = np.random.default_rng(1).normal(size=(7, 20)).astype(np.float32) * 3
    p = decoder(TOP_P)(softmax(logit))
    assert np.allclose(softmax(exact.log_law(logit, decoder(TOP_P)).astype(np.float64)), p, atol=1e-6)


def test_heads_of_the_laws_rank_can_express_it_and_others_cannot(law):
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(256, 4)).astype(np.float32), draw.normal(size=(4, 16)).astype(np.float32)
    save_tensors(law.folder / "factors.safetensors", {"A": torch.tensor(a), "B": torch.tensor(b)}, {"reads": "post"})
    made = law.folder / "rank4.safetensors"
    inputs = {"weights": law.folder / "law.safetensors", "head": law.folder / "factors.safetensors"}
    weights.main(job(inputs, made, {"rank": 4}, law="rank4"))
    product = load_model(made).head.weight.detach().double().numpy()
    assert np.linalg.matrix_rank(product, tol=1e-4) == 4
    _, windows = drawn(law, "rank4", weights="rank4.safetensors")
    truth = softmax(rows(of_law(law, windows, weights="rank4.safetensors")[0])[:40])
    wide = np.concatenate([a.astype(np.float64), draw.normal(size=(256, 4))], axis=1)
    uniform = np.zeros((len(truth), 256))
    enough, short = (divide(prepare(head), uniform, truth)[1].forced for head in (wide, wide[:, :3]))
    assert enough.max() < 1e-9
    assert short.mean() > 0.01


def test_a_corpus_is_cut_from_the_first_sequences_or_those_after(law, pure):
    sequences, outputs = pure[0], {part: law.folder / f"c.{part}" for part in ("train", "validation", "manifest")}
    ordered = sequences[sequences.split == "train"].sort_values("sequence")
    settings = {"sequences": 5, "prompt": PROMPT, "sampled": SAMPLED}
    for after, of in ((0, {}), (5, {"after": 5})):
        corpus.main(job(law.folder / "pure.parquet", outputs, settings | of, text="l-5"))
        train, five = read_split(outputs["train"], outputs["manifest"], "train"), ordered[after : after + 5]
        assert train.tobytes() == b"".join(p + c for p, c in zip(five.prompt, five.continuation, strict=True))
    assert read_manifest(outputs["manifest"])["sequences"] == {"length": PROMPT + SAMPLED, "prompt": PROMPT}


def test_a_model_read_at_a_temperature_has_the_logits_divided_by_it(law, pure):
    written, states = of_law(law, pure[1], {"name": "temperature", "temperature": 0.8})
    by_hand = np.concatenate([window.model for window in read_logits(states, {})]).astype(np.float64) / 0.8
    assert np.allclose(np.exp(rows(written)), special.softmax(by_hand, axis=1), rtol=1e-4, atol=1e-12)


def behind_own_text(law, model, decoding=PURE):
    """Rows of a model held against the law behind what it has written itself."""
    _, windows = drawn(law, "own")
    inputs = {"windows": windows, "law": law.folder / "law.safetensors", "weights": law.folder / model}
    settings = {"decoding": decoding, "sampled": SAMPLED, "seed": 1, "tau": 0.9, "batch": 8}
    own_contexts.main(job(inputs, out := [law.folder / "o.parquet"], settings | {"precision": "float32", "threads": 1}))
    return read_table(out[0]).to_pandas()


def test_behind_its_own_text_the_law_is_no_distance_from_itself_and_another_model_is_by_hand(law):
    own = behind_own_text(law, "law.safetensors")
    assert len(own) == COUNTS["evaluation"] * SAMPLED
    assert own[["tto", "kl"]].abs().to_numpy().max() < 1e-5
    other = GPT(GPTConfig(**SHAPE), 5).eval()
    save_model(law.folder / "other.safetensors", other.config, other.state_dict(), {})
    found = behind_own_text(law, "other.safetensors", TOP_P)
    # By hand: the same prompts, continued by the model with the same random numbers, and both read in one pass.
    _, windows = drawn(law, "own")
    prompts = read_table(windows)["prompt"].to_pylist()
    (written,) = generate(other, [*range(len(prompts))], prompts, SAMPLED, PURE, 1, len(prompts))
    continued = zip(prompts, written["continuation"].to_pylist(), strict=True)
    read = np.stack([np.frombuffer(prompt + text, np.uint8) for prompt, text in continued])
    with torch.inference_mode():
        ours, of_law = (
            torch.softmax(model(torch.from_numpy(read[:, :-1].astype(np.int64)))[:, PROMPT - 1 :].double(), -1).numpy()
            for model in (other, law.model)
        )
    descending = np.sort(of_law, axis=-1)[..., ::-1]
    kept = descending.cumsum(axis=-1) - descending < TOP_P["p"]
    p = np.where(of_law >= np.where(kept, descending, 1).min(axis=-1, keepdims=True), of_law, 0)
    p /= p.sum(axis=-1, keepdims=True)
    inside = np.sort(p, axis=-1)[..., ::-1]
    nucleus = p >= np.where(inside.cumsum(axis=-1) - inside < 0.9, inside, 1).min(axis=-1, keepdims=True)
    tto = (np.maximum(ours - p, 0) * ~nucleus).sum(axis=-1)
    assert found.tto.to_numpy() == pytest.approx(tto.ravel(), abs=1e-4)


def test_what_bat_rejects_is_divided_by_hand():
    """The rejected bytes have 0.5: 0.2 more than the larger of law and full rank; of the others one has 0.1 more."""
    q, full, p = ([row] for row in ([0.3, 0.2, 0.4, 0.1], [0.1, 0.2, 0.3, 0.4], [0.1, 0.3, 0.2, 0.4]))
    rejected = np.array([[True, True, False, False]])
    assert marked(*map(np.array, (q, full, p)), rejected).ravel() == pytest.approx([0.5, 0.2, 0.3])
