"""A model's folder may name no file elsewhere, nothing pickled and no model larger than its weights."""

import json
import logging
import shutil
from pathlib import Path

import pytest
import torch
from hub_models import edit, write_gpt2
from local_hub import in_the_cache
from safetensors.torch import load_file, save_file

from oversmoothing.hub.names import as_folder, short_name
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_language_model as load
from oversmoothing.models.pretrained.auto import load_tokenizer


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    write_gpt2(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "in")
    return tmp_path / "in"


class Planted:
    """What leaves a file behind where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def index_to(folder, file, write=None):
    """Move the weights to a file that an index names."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    (write or save_file)(tensors, folder / file)
    index = {"metadata": {}, "weight_map": dict.fromkeys(tensors, file)}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_a_pickle_that_an_index_names_is_not_opened(folder, tmp_path):
    index_to(folder, "weights.bin", lambda tensors, path: torch.save({**tensors, "x": Planted(tmp_path / "ran")}, path))
    with pytest.raises(UserError, match=r"index\.json: weight_map places \S+ in 'weights\.bin'; only \.safetensors"):
        load(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("where", ["{}/outside.safetensors", "sub/../../outside.safetensors"])
def test_an_index_that_leads_outside(folder, tmp_path, where):
    (folder / "sub").mkdir()
    index_to(folder, where.format(tmp_path))
    assert (tmp_path / "outside.safetensors").exists()
    with pytest.raises(UserError, match=r"weight_map places \S+ in '.*outside\.safetensors'; only"):
        load(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_link_that_leads_outside(folder, tmp_path, name):
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(UserError, match=r"in/\S+: a link that leads out of the folder; copy the folder with `cp -rL`"):
        load(folder)
    (tmp_path / name).rename(folder / f"own-{name}")
    (folder / name).unlink()
    (folder / name).symlink_to(f"own-{name}")
    load(folder)


def test_code_beside_a_known_architecture_is_not_run(folder, tmp_path):
    code = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()"
    (folder / "own.py").write_text(code)
    names = {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M", "AutoTokenizer": ["own.T", "own.T"]}
    edit(folder / "config.json", auto_map=names)
    edit(folder / "tokenizer_config.json", auto_map=names)
    load(folder)
    assert not (tmp_path / "ran").exists()


def config(name="config.json", **values):
    return lambda folder: edit(folder / name, **values)


def written(content, name="config.json"):
    return lambda folder: (folder / name).write_bytes(content)


def index(value):
    def write(folder):
        (folder / "model.safetensors").rename(folder / "part.safetensors")
        (folder / "model.safetensors.index.json").write_text(json.dumps(value))

    return write


def tensor(name, change):
    """Replace a tensor of the weights by what is made of it."""

    def rewrite(folder):
        path = folder / "model.safetensors"
        tensors = load_file(path)
        save_file(tensors | {name: change(tensors.get(name))}, path, {"format": "pt"})

    return rewrite


def adapter(*weights, whole=True):
    """Put the files of an adapter beside the weights of a whole model, or in their place."""

    def put(folder):
        for name in ("adapter_config.json", *weights):
            (folder / name).write_bytes(b"{}")
        if not whole:
            (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")

    return put


def renamed(name):
    return lambda folder: (folder / "model.safetensors").rename(folder / name)


UNHEARD = {"model_type": "unheard", "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}}
QUANTISED = {"text_config": {"quantization_config": {"quant_method": "gptq", "bits": 4}}}
MATRIX, POSITIONS = "transformer.h.0.mlp.c_fc.weight", "transformer.wpe.weight"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (config(transformers_weights="other.safetensors"), "/config.json: transformers_weights names other files"),
        (config("tokenizer_config.json", fast_tokenizer_files=["../t.1.json"]), "fast_tokenizer_files names other"),
        (config(attn_implementation="someone/kernel"), "config.json: attn_implementation is 'someone/kernel': code of"),
        (config(_attn_implementation={"": "a/b"}), "config.json: _attn_implementation is {'': 'a/b'}: code of"),
        (config(_experts_implementation_internal="a/b"), "_experts_implementation_internal is 'a/b': code of"),
        (config(parts=[{"_attn_implementation": "a/b"}]), "_attn_implementation is 'a/b': code of"),
        (adapter(), "adapter_config.json: left over from an adapter, as beside a model that was merged with it; move"),
        (adapter("adapter_model.safetensors"), "adapter_config.json: an adapter beside the weights of a whole model"),
        (adapter("adapter_model.bin"), "adapter_config.json: an adapter beside the weights of a whole model"),
        (adapter(whole=False), "adapter_config.json: an adapter of another model; merge the two and save the whole"),
        (config(**UNHEARD), "no complete causal language model that needs no code"),
        (config(**QUANTISED), r"config.json: quantised \(gptq\); save a dequantised copy, without"),
        (config(quantization={"bits": 4}), r"config.json: quantised \(quantization\); save a dequantised copy"),
        (written(b"[]"), "config.json: not a JSON object but list"),
        (written(b"{"), "config.json: not a JSON object"),
        (written(b"\xff", "generation_config.json"), "generation_config.json: not a JSON object"),
        (written(b"[" * 100_000), "config.json: not a JSON object"),
        (index([]), r"index\.json: not a JSON object but list"),
        (index({"metadata": {}, "weight_map": []}), r"index\.json: it has no weight_map"),
        (index({"metadata": {}, "weight_map": {"a": None}}), r"index\.json: weight_map places a in None"),
        (index({"metadata": {}, "weight_map": {"a": ".hidden.safetensors"}}), "places a in '.hidden.safetensors'"),
        (index({"metadata": {}, "weight_map": {"a": "b.safetensors"}}), "b.safetensors: no such file"),
        (
            index({"metadata": {}, "weight_map": {"a": "part.safetensors"}}),
            "it has no tensor a, which the index places",
        ),
        (written(b"some text", "model.safetensors"), "model.safetensors: not a complete safetensors file"),
        (config(n_layer=10**6), "config.json: n_layer is 1000000, but the files hold 16 tensors"),
        (config(n_layer=0), "config.json: n_layer is 0, but the files hold 16 tensors"),
        (config(text_config={"num_hidden_layers": 10**6}), "num_hidden_layers is 1000000"),
        (config(vocab_size=10**12), "config.json: it describes a model of 16\\d+ numbers, but the files hold"),
        (config(n_positions=10**7), "config.json: it describes a model of 16\\d+ numbers, but the files hold"),
        (config(n_positions=32), rf"tensor {POSITIONS} has the shape \(96, 16\), but config\.json"),
        (tensor(MATRIX, lambda values: values.to(torch.int8)), r"\S+c_fc\.weight holds I8, no float"),
        (tensor(MATRIX, lambda values: values.to(torch.float8_e4m3fn)), r"\S+c_fc\.weight holds F8_E4M3, no float"),
        (
            tensor(POSITIONS, lambda values: values - torch.inf),
            f"/in: its tensor {POSITIONS} holds NaN or infinity; the",
        ),
        (renamed("pytorch_model.bin"), "no model.safetensors, but pickled weights, which can run code and are never"),
        (renamed("model-Q4_K_M.gguf"), "no model.safetensors, but weights in GGUF: name such a file itself, on this"),
    ],
)
def test_a_folder_that_is_no_whole_model_of_its_own(folder, spoil, message):
    spoil(folder)
    with pytest.raises(UserError, match=rf"/in.*{message}") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


def test_masks_that_are_no_parameters_may_hold_what_they_like(folder):
    tensor("transformer.h.0.attn.bias", lambda _: torch.ones(1, 1, 96, 96, dtype=torch.uint8))(folder)
    load(folder)


def test_a_damaged_tokenizer_is_one_line(folder):
    path = folder / "tokenizer.json"
    whole = json.loads(path.read_text())
    for damaged in ({**whole, "model": {**whole["model"], "merges": ["a"]}}, {**whole, "model": None}, {}):
        path.write_text(json.dumps(damaged))
        with pytest.raises(UserError, match=r"own: .*in: no complete causal language model") as caught:
            load_tokenizer(folder, "own")
        assert "\n" not in str(caught.value)


def test_chance_in_the_encodings_of_a_judge_is_off(folder):
    path = folder / "tokenizer.json"
    whole, text = json.loads(path.read_text()), "the water of the river"
    expected = load_tokenizer(folder, "own")(text)["input_ids"]
    whole["model"]["dropout"] = 0.5
    path.write_text(json.dumps(whole))
    own = load_tokenizer(folder, "own")
    assert [own(text)["input_ids"] for _ in range(20)] == [expected] * 20


def test_a_snapshot_of_the_hubs_cache(folder, tmp_path):
    snapshot = in_the_cache(folder, tmp_path / "hub")
    load(snapshot)
    (tmp_path / "elsewhere").symlink_to(snapshot)
    load(tmp_path / "elsewhere")
    load(as_folder(str(snapshot.parents[1])))
    of_small = (snapshot, tmp_path / "elsewhere", snapshot.parents[1], "owner/small", tmp_path / "small")
    assert {short_name(str(source)) for source in of_small} == {"small"}


@pytest.mark.parametrize(
    ("leads", "message"),
    [
        ("../../../models--owner--other/blobs/x", "a link that leads out of the folder; copy the folder"),
        ("../../blobs/none", "a link to no file; run `hf download owner/small --revision 0123456789"),
        ("config.json", "a link to no file; run `hf download"),
    ],
    ids=["other", "dangling", "loop"],
)
def test_links_of_a_snapshot_that_lead_out_of_its_cache(folder, tmp_path, leads, message):
    cache = tmp_path / "hub"
    snapshot = in_the_cache(folder, cache)
    (cache / "models--owner--other/blobs").mkdir(parents=True)
    (cache / "models--owner--other/blobs/x").write_bytes((snapshot / "config.json").read_bytes())
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to(leads)
    with pytest.raises(UserError, match=rf"{'0123456789' * 4}/config\.json: {message}"):
        load(snapshot)


def test_only_a_snapshot_has_its_blobs_beside_it(folder, tmp_path):
    """Any other folder with links to two folders above is refused."""
    for name, commit in ("models--o--n", "main"), ("own", "0" * 40):
        shutil.copytree(folder, tmp_path / "copy")
        with pytest.raises(UserError, match="a link that leads out of the folder"):
            load(in_the_cache(tmp_path / "copy", tmp_path / "hub", name, commit))
        shutil.rmtree(tmp_path / "copy")


def test_an_incomplete_snapshot(folder, tmp_path):
    snapshot = in_the_cache(folder, tmp_path / "hub")
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"it has no model\.safetensors; run `hf download owner/small --revision 0123"):
        load(snapshot)
    (snapshot.parents[1] / "refs/main").unlink()
    with pytest.raises(UserError, match=r"models--owner--small: its refs/main names no commit; name a folder in its"):
        load(as_folder(str(snapshot.parents[1])))


def test_a_file_in_place_of_a_folder(folder):
    with pytest.raises(UserError, match=r"model\.safetensors: a file: name the folder of a model"):
        load(folder / "model.safetensors")
    torch.save({"a": torch.zeros(2)}, folder / "own.pt")
    with pytest.raises(UserError, match=r"own\.pt: pickled weights, which can run code and are never read: load the"):
        load(folder / "own.pt")


def test_a_merged_model_is_read_once_the_left_over_adapter_has_moved(folder, tmp_path):
    adapter()(folder)
    with pytest.raises(UserError, match=r"move adapter_config\.json to another folder, or name a copy of the folder"):
        load(folder)
    (folder / "adapter_config.json").rename(tmp_path / "adapter_config.json")
    load(folder)


def test_a_tensors_name_reaches_no_terminal(folder, monkeypatch, recwarn):
    """transformers reports the tensors that it leaves out, by the names that the file gives them."""
    odd = "x\x1b[31m\nError: all is well"
    save_file({**load_file(folder / "model.safetensors"), odd: torch.ones(2)}, folder / "model.safetensors")
    printed = logging.getLogger("transformers")
    records = []
    (handler := logging.Handler()).emit = records.append
    monkeypatch.setattr(printed, "handlers", [handler])
    load(folder)
    assert [record.getMessage() for record in records] == []
    assert not recwarn.list
    printed.warning("as before")
    assert [record.getMessage() for record in records] == ["as before"]
