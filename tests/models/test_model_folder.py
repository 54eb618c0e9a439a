"""A model's folder may name no file elsewhere, nothing pickled and no model larger than its weights."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from hub_models import edit, write_gpt2, write_neox
from local_hub import in_the_cache
from safetensors.torch import load_file, save_file

from oversmoothing.hub.names import as_folder, short_name
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained.auto import load_language_model, load_tokenizer
from oversmoothing.models.truths.load import load_causal_lm

CPU = torch.device("cpu")
LOADERS = {"model": load_language_model, "truth": lambda folder: load_causal_lm(folder, "own", 0, None, CPU, "float32")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    write_gpt2(folder)
    return folder


@pytest.fixture(params=LOADERS)
def load(request):
    return LOADERS[request.param]


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


def test_an_index_of_the_folders_own_files_is_read(folder, load):
    index_to(folder, "part-1.safetensors")
    load(folder)


def test_a_pickle_that_an_index_names_is_not_opened(folder, load, tmp_path):
    index_to(folder, "weights.bin", lambda tensors, path: torch.save({**tensors, "x": Planted(tmp_path / "ran")}, path))
    with pytest.raises(UserError, match=r"index\.json: weight_map places \S+ in 'weights\.bin'; only \.safetensors"):
        load(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("where", ["../outside.safetensors", "{}/outside.safetensors", "sub/../../outside.safetensors"])
def test_an_index_that_leads_outside(folder, load, tmp_path, where):
    (folder / "sub").mkdir()
    index_to(folder, where.format(tmp_path))
    assert (tmp_path / "outside.safetensors").exists()
    with pytest.raises(UserError, match=r"weight_map places \S+ in '.*outside\.safetensors'; only"):
        load(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_link_that_leads_outside(folder, load, tmp_path, name):
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(UserError, match=r"in/\S+: a link that leads out of the folder; copy the folder with `cp -rL`"):
        load(folder)
    (tmp_path / name).rename(folder / f"own-{name}")
    (folder / name).unlink()
    (folder / name).symlink_to(f"own-{name}")
    load(folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("transformers_weights", "other.safetensors", "transformers_weights names other files"),
        ("attn_implementation", "someone/kernel", "attn_implementation is 'someone/kernel': code of"),
        ("_attn_implementation", "someone/kernel", "_attn_implementation is 'someone/kernel': code of"),
        ("_attn_implementation", {"": "someone/kernel"}, "_attn_implementation is {'': 'someone/kernel'}"),
        ("attn_implementation", "flash_attention_2", "attn_implementation is 'flash_attention_2': code"),
        ("_experts_implementation_internal", "a/b", "_experts_implementation_internal is 'a/b': code"),
        ("parts", [{"_attn_implementation": "a/b"}], "_attn_implementation is 'a/b': code of"),
        ("fast_tokenizer_files", ["../t.1.json"], "fast_tokenizer_files names other files"),
    ],
)
def test_keys_that_lead_elsewhere(folder, load, key, value, message):
    name = "tokenizer_config.json" if "tokenizer" in key else "config.json"
    edit(folder / name, **{key: value})
    with pytest.raises(UserError, match=f"in/{name}: {message}"):
        load(folder)


def test_an_adapter_of_another_model(folder, load):
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "someone/else"}))
    with pytest.raises(UserError, match=r"adapter_config\.json: an adapter of another model"):
        load(folder)


@pytest.mark.parametrize(
    ("values", "how"),
    [
        ({"quantization_config": {"quant_method": "fp8"}}, "fp8"),
        ({"text_config": {"quantization_config": {"quant_method": "gptq", "bits": 4}}}, "gptq"),
        ({"quantization": {"bits": 4, "group_size": 64}}, "quantization"),
    ],
)
def test_quantised_weights(folder, load, values, how):
    edit(folder / "config.json", **values)
    (folder / "model.safetensors").unlink()  # so it is said before they are read
    with pytest.raises(UserError, match=rf"in/config\.json: quantised \({how}\); save a dequantised copy, without"):
        load(folder)


def test_code_beside_a_known_architecture_is_not_run(folder, load, tmp_path):
    code = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()"
    (folder / "own.py").write_text(code)
    names = {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M", "AutoTokenizer": ["own.T", "own.T"]}
    edit(folder / "config.json", auto_map=names)
    edit(folder / "tokenizer_config.json", auto_map=names)
    load(folder)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("text", ["[]", "null", '"x"', "3", "{", "", "\xff", "[" * 100_000])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"])
def test_json_that_is_no_object(folder, load, name, text):
    (folder / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=rf"in/{name}: not a JSON object"):
        load(folder)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([], "not a JSON object but list"),
        ({"metadata": {}}, "it has no weight_map"),
        ({"metadata": {}, "weight_map": []}, "it has no weight_map"),
        ({"metadata": None, "weight_map": {"a": "b.safetensors"}}, "its metadata is not an object"),
        ({"metadata": {}, "weight_map": {"a": None}}, "weight_map places a in None"),
        ({"metadata": {}, "weight_map": {"a": ".hidden.safetensors"}}, "weight_map places a in '.hidden.safetensors'"),
    ],
)
def test_an_index_that_is_none(folder, load, index, message):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(UserError, match=rf"in/model\.safetensors\.index\.json: {message}"):
        load(folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("n_layer", 10**6, "n_layer is 1000000, not a whole number from 1 to 16; the files hold 16 tensors"),
        ("n_layer", -1, "n_layer is -1, not a whole number"),
        ("n_head", 0, "n_head is 0, not a whole number from 1 on"),
        ("n_embd", [16, 0], r"n_embd is \[16, 0\], not a whole number"),
        ("vocab_size", True, "vocab_size is True, not a whole number"),
        ("vocab_size", 10**12, "it describes a model of 16\\d+ numbers, but the files hold"),
        ("n_inner", 10**9, "it describes a model of 3\\d+ numbers, but the files hold"),
        ("n_positions", 10**7, "it describes a model of 16\\d+ numbers, but the files hold"),
        ("text_config", {"num_hidden_layers": 10**6}, "num_hidden_layers is 1000000"),  # a part of a config
    ],
)
def test_sizes_that_the_weights_do_not_have(folder, load, key, value, message):
    edit(folder / "config.json", **{key: value})
    with pytest.raises(UserError, match=rf"in/config\.json: {message}"):
        load(folder)


def test_a_config_of_fewer_layers_than_the_files(tmp_path):
    write_neox(tmp_path, layers=3)
    edit(tmp_path / "config.json", num_hidden_layers=2)
    with pytest.raises(UserError, match=r"config\.json: it makes 2 layers, but the files have .*layers\.2\."):
        load_language_model(tmp_path)


def test_a_config_of_another_shape(folder, load):
    edit(folder / "config.json", n_positions=32)
    with pytest.raises(UserError, match=r"tensor transformer\.wpe\.weight has the shape \(96, 16\), but config\.json"):
        load(folder)


def test_a_damaged_tokenizer_is_one_line(folder):
    path = folder / "tokenizer.json"
    whole = json.loads(path.read_text())
    for damaged in ({**whole, "model": {**whole["model"], "merges": ["a"]}}, {**whole, "model": None}, {}):
        path.write_text(json.dumps(damaged))
        with pytest.raises(UserError, match=r"own: .*in: no complete causal language model") as caught:
            load_tokenizer(folder, "own")
        assert "\n" not in str(caught.value)


def rewrite(folder, change):
    """Change the tensors of the weights."""
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "bool", "float8_e4m3fn", "complex64"])
def test_weights_that_are_no_floating_point_numbers(folder, load, dtype):
    name = "transformer.h.0.mlp.c_fc.weight"
    rewrite(folder, lambda tensors: tensors | {name: tensors[name].to(getattr(torch, dtype))})
    with pytest.raises(UserError, match=r"in/model\.safetensors: its tensor \S+c_fc\.weight holds [A-Z]\w+, no float"):
        load(folder)


def test_masks_that_are_no_parameters_may_hold_what_they_like(folder, load):
    mask = torch.ones(1, 1, 96, 96, dtype=torch.uint8)
    rewrite(folder, lambda tensors: tensors | {"transformer.h.0.attn.bias": mask})
    load(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers(folder, load, value):
    def spoil(tensors):
        tensors["transformer.wpe.weight"][3, 2] = value
        return tensors

    rewrite(folder, spoil)
    with pytest.raises(UserError, match=r"/in: its tensor transformer\.wpe\.weight holds NaN or infinity; the weights"):
        load(folder)


@pytest.mark.parametrize(
    ("part", "of", "by"),
    [
        ("_orig_mod", lambda name: f"_orig_mod.{name}", r"torch\.compile"),
        ("module", lambda name: f"module.{name}", "DistributedDataParallel"),
        ("_orig_mod", lambda name: name.replace("transformer.", "transformer._orig_mod."), r"torch\.compile"),
    ],
)
def test_names_of_a_model_inside_a_wrapper(folder, load, part, of, by):
    rewrite(folder, lambda tensors: {of(name): tensor for name, tensor in tensors.items()})
    with pytest.raises(UserError, match=rf"in: '{part}' stands in the names of its tensors, as {by} puts it there"):
        load(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pytorch_model.bin", r"pickled weights, which can run code and are never read: load .*`save_pretrained`"),
        ("consolidated.00.pth", "pickled weights, which can run code"),
        ("model-Q4_K_M.gguf", r"weights in GGUF: name such a file itself, on this machine"),
    ],
)
def test_a_folder_of_weights_in_another_format(folder, load, name, message):
    (folder / "model.safetensors").rename(folder / name)
    with pytest.raises(UserError, match=rf"in: it has no model\.safetensors, but {message}") as caught:
        load(folder)
    assert "delete" not in str(caught.value)


def test_a_snapshot_of_the_hubs_cache(folder, load, tmp_path):
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
        ("../../../secret", "a link that leads out of the folder; copy the folder"),
        ("{}/secret", "a link that leads out of the folder"),
        ("../../../models--owner--other/blobs/x", "a link that leads out of the folder"),
        ("../../blobs/out", "a link that leads out of the folder"),
        ("../../blobs/none", "a link to no file; run `hf download owner/small --revision 0123456789"),
        ("config.json", "a link to no file; run `hf download"),
    ],
    ids=["above", "absolute", "other", "twice", "dangling", "loop"],
)
def test_links_of_a_snapshot_that_lead_out_of_its_cache(folder, load, tmp_path, leads, message):
    cache = tmp_path / "hub"
    snapshot = in_the_cache(folder, cache)
    (cache / "models--owner--other/blobs").mkdir(parents=True)
    for secret in (tmp_path / "secret", cache / "secret", cache / "models--owner--other/blobs/x"):
        secret.write_bytes((snapshot / "config.json").read_bytes())
    (cache / "models--owner--small/blobs/out").symlink_to(tmp_path / "secret")
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to(leads.format(tmp_path))
    with pytest.raises(UserError, match=rf"{'0123456789' * 4}/config\.json: {message}"):
        load(snapshot)


def test_only_a_snapshot_has_its_blobs_beside_it(folder, load, tmp_path):
    """Any other folder with links to two folders above is refused."""
    for name, commit in ("models--o--n", "main"), ("own", "0" * 40):
        shutil.copytree(folder, tmp_path / "copy")
        with pytest.raises(UserError, match="a link that leads out of the folder"):
            load(in_the_cache(tmp_path / "copy", tmp_path / "hub", name, commit))
        shutil.rmtree(tmp_path / "copy")


def test_an_incomplete_snapshot(folder, load, tmp_path):
    snapshot = in_the_cache(folder, tmp_path / "hub")
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"it has no model\.safetensors; run `hf download owner/small --revision 0123"):
        load(snapshot)
    (snapshot.parents[1] / "refs/main").unlink()
    with pytest.raises(UserError, match=r"models--owner--small: its refs/main names no commit; name a folder in its"):
        load(as_folder(str(snapshot.parents[1])))


def test_a_file_in_place_of_a_folder(folder, load):
    with pytest.raises(UserError, match=r"model\.safetensors: a file: name the folder of a model"):
        load(folder / "model.safetensors")
    torch.save({"a": torch.zeros(2)}, folder / "own.pt")
    with pytest.raises(UserError, match=r"own\.pt: pickled weights, which can run code and are never read: load the"):
        load(folder / "own.pt")
