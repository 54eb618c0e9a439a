"""Other people's models: spectra, losses and anisotropy against direct computation, and what people read."""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch
from hub_models import write_gpt2, write_neox, write_tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer, BertConfig, BertLMHeadModel, PreTrainedTokenizerFast

from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_language_model
from oversmoothing.tables.formats import latex, markdown
from studies.along_training.others import MEASURES, measure, origin, prefix
from studies.along_training.table import NAMES, along_training_table, doubles, others_page

TEXT = "The water reads as prose does, and some of the text is déjà vu: 水 flows. " * 8


@pytest.fixture(scope="module")
def neox(tmp_path_factory):
    folder = tmp_path_factory.mktemp("neox")
    write_neox(folder)
    return load_language_model(folder)


def values(rows):
    return {row["measure"] + (f" {row['layer']}" if row["layer"] else ""): row["value"] for row in rows}


def measured(model, text=TEXT, context=64, batch=3):
    return values(measure(model, text, context, batch, "float32", "own"))


def test_every_token_but_the_first_is_predicted_once(neox):
    """Losses of stretches that overlap by one token, summed by hand."""
    ids = torch.tensor(neox.tokenizer(TEXT, add_special_tokens=False)["input_ids"])
    nats, count = 0.0, 0
    for start in range(0, len(ids) - 1, 19):
        part = ids[start : start + 20]
        log_p = neox.model(input_ids=part[None]).logits[0].log_softmax(-1).detach().double()
        nats -= float(log_p[range(len(part) - 1), part[1:]].sum())
        count += len(part) - 1
    assert count == len(ids) - 1
    predicted = len(TEXT.encode()) - len(neox.tokenizer.decode(ids[:1]).encode())
    for batch in (1, 4):
        numbers = measured(neox, context=20, batch=batch)
        assert numbers["loss"] == pytest.approx(nats / count, rel=1e-5)
        assert numbers["loss_per_byte"] == pytest.approx(nats / predicted, rel=1e-5)


def test_hidden_states_and_gradients_are_those_that_predict_a_token(neox):
    text = TEXT[:80]
    ids = neox.tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
    numbers = measured(neox, text)
    output = neox.model.gpt_neox(input_ids=ids[:, :-1], output_hidden_states=True)
    expected = {f"anisotropy {i}": output.hidden_states[i] for i in (1, 2)}
    expected["head_input_anisotropy"] = output.last_hidden_state
    assert set(expected) == {name for name in numbers if "anisotropy" in name}  # block 3 is seen after a LayerNorm only
    for name, states in expected.items():
        cosines = [torch.cosine_similarity(a, b, dim=0).item() for a, b in itertools.combinations(states[0], 2)]
        assert numbers[name] == pytest.approx(np.mean(cosines), abs=1e-5)
    logits = neox.model(input_ids=ids).logits[0, :-1].detach().double().requires_grad_()
    torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="sum").backward()
    basis = np.linalg.svd(neox.model.get_output_embeddings().weight.detach().double().numpy(), full_matrices=False)[0]
    inside = (logits.grad.numpy() @ basis) ** 2
    assert numbers["gradient_share"] == pytest.approx(inside.sum() / (logits.grad**2).sum().item(), rel=1e-4)
    assert "outlier_dimensions 1" not in numbers


def test_sizes_of_models_with_a_head_of_their_own_and_a_tied_one(neox, tmp_path):
    numbers = measured(neox)
    assert (numbers["vocabulary"], numbers["width"]) == (320, 16)
    assert numbers["parameters"] == sum(parameter.numel() for parameter in neox.model.parameters())
    assert numbers["parameters"] - numbers["parameters_without_embeddings"] == 2 * 320 * 16
    plain = write_gpt2(tmp_path)
    numbers = measured(load_language_model(tmp_path))
    weight = plain.transformer.wte.weight.detach().double().numpy()
    sigma = np.linalg.svd(weight, compute_uv=False)
    shares = sigma / sigma.sum()
    assert numbers["singular_entropy"] == pytest.approx(np.log(len(shares)) + (shares * np.log(shares)).sum(), abs=1e-5)
    assert numbers["parameters"] == sum(parameter.numel() for parameter in plain.parameters())
    assert numbers["parameters"] - numbers["parameters_without_embeddings"] == 300 * 16 + 96 * 16


def test_a_token_before_every_text_is_read_and_not_scored(tmp_path):
    model = write_neox(tmp_path)
    own = AutoTokenizer.from_pretrained(tmp_path).backend_tokenizer
    own.add_special_tokens(["<s>"])
    own.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", own.token_to_id("<s>"))])
    PreTrainedTokenizerFast(tokenizer_object=own, bos_token="<s>").save_pretrained(tmp_path)
    loaded = load_language_model(tmp_path)
    first = prefix(loaded.tokenizer)
    assert first == [own.token_to_id("<s>")]
    ids = loaded.tokenizer(TEXT[:60], add_special_tokens=False)["input_ids"]
    log_p = model(input_ids=torch.tensor([first + ids])).logits[0].log_softmax(-1)
    expected = -log_p[range(1, len(ids)), ids[1:]].mean().item()
    assert measured(loaded, TEXT[:60])["loss"] == pytest.approx(expected, rel=1e-5)
    with pytest.raises(UserError, match=r"others\.context: own begins each text with its own token; raise 2"):
        measured(loaded, context=2)


def test_what_cannot_be_measured(neox, tmp_path):
    with pytest.raises(UserError, match=r"others\.context: own reads at most 64 tokens, not 65; lower it"):
        measured(neox, context=65)
    for text in ("", "w"):
        with pytest.raises(UserError, match=r"others\.bytes: the text has fewer than two tokens for own"):
            measured(neox, text)
    write_gpt2(tmp_path / "small", vocabulary=260, tokenizer=False)
    write_tokenizer(tmp_path / "small", [TEXT], size=300)
    with pytest.raises(UserError, match=r"others\.models: own: its tokenizer has token \d+, but its head has no"):
        measured(load_language_model(tmp_path / "small"))
    write_neox(tmp_path / "damaged")
    damaged = load_language_model(tmp_path / "damaged")
    with torch.no_grad():
        damaged.model.gpt_neox.embed_in.weight[:] = torch.nan
    with pytest.raises(UserError, match=r"others\.models: own: its logits are not all finite; its weights are"):
        measured(damaged)


def test_a_model_that_reads_ahead_is_refused(tmp_path):
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = BertLMHeadModel(BertConfig(vocab_size=300, max_position_embeddings=64, **shape))
    torch.nn.init.normal_(model.bert.embeddings.word_embeddings.weight)
    model.save_pretrained(tmp_path)
    write_tokenizer(tmp_path, ["some text"])
    with pytest.raises(UserError, match="own: it attends to later tokens, so it is not a causal language model"):
        measured(load_language_model(tmp_path, key="others.models"))


def test_the_same_weights_are_known_again():
    manifest = {"files": {"model.safetensors": {"sha256": "a"}, "config.json": {"sha256": "b"}}}
    of_folder = origin(manifest | {"folder": "own"})
    assert of_folder == {"read": None, "commit": None, "instead_of": None, "weights": of_folder["weights"]}
    for name, same in (("config.json", True), ("model.safetensors", False)):
        manifest["files"][name]["sha256"] = "c"
        assert (origin(manifest)["weights"] == of_folder["weights"]) == same


def revision(loss, weights, layers=2, read=None, commit=None):
    rows = dict.fromkeys(NAMES, 0.3) | {"loss": 4 * loss, "loss_per_byte": loss, "vocabulary": 50_304, "width": 512}
    rows |= {"parameters": 1e6, "parameters_without_embeddings": 4e5}
    del rows["anisotropy"]
    rows = [(name, None, value) for name, value in rows.items()]
    rows += [("anisotropy", layer, layer / 10) for layer in range(1, layers + 1)]
    frame = pd.DataFrame(rows, columns=["measure", "layer", "value"])
    return frame.assign(n=1000, read=read, commit=commit, instead_of=None, weights=weights)[MEASURES.names]


def test_the_table_says_what_was_read_and_what_is_the_same():
    steps = {"step0": 0, "step1": 1, "step512": 512, "step143000": 143_000}
    frames = [revision(3 - i / 2, f"w{i}", read=name, commit="c0ffee00") for i, name in enumerate(steps)]
    frames[2]["weights"], frames[3]["read"] = "w3", "main"
    models = [{"model": "pythia", "revision": name, "step": step} for name, step in steps.items()]
    frames.append(revision(1.2, "other", layers=1))
    models.append({"model": "gpt2_own", "revision": "main", "step": None})
    table = along_training_table(frames, models, "token")
    read = table[table.measure == "read"]
    assert read.note.tolist() == ["step0", "step1", "step512", "main", "main"]
    assert set(table.unit[table.measure == "loss"]) == {"nats per token"}
    assert doubles(table) == ["pythia: step512, step143000"]
    page = others_page(table, "Others.")
    inner = [row["anisotropy, last inner layer"].mean for part in page.sections for row in part.rows]
    assert inner == [0.2] * 4 + [0.1]
    text = markdown(page)
    assert "Loss: over 1,000 bytes from the beginning of the evaluation split" in text
    assert "main (c0ffee0), for want of it" in text
    assert "1,000,000 parameters, 400,000 without embeddings and head; a head of 50,304 tokens and 512" in text
    assert "hold the same weights, whatever their names say: pythia: step512, step143000" in text
    assert "nan" not in text
    assert r"gpt2\_own" in latex(page)
