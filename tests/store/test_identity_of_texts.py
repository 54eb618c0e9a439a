"""Files that were made from another text are named by whoever reads them, however many fit each other."""

import hashlib
import json
import shutil

import pandas as pd
import pyarrow as pa
import pytest
import torch

from oversmoothing import jobs
from oversmoothing.data.reader import read_manifest, read_split
from oversmoothing.jobs import UserError
from oversmoothing.models.weights import load_metadata, load_tensors, save_tensors
from oversmoothing.store.layout import read_csv, write_csv
from oversmoothing.store.parquet import read_table, write_table
from oversmoothing.store.sealed_json import write_sealed

TEXT = [f"corpus/{name}" for name in ("train.bin", "validation.bin", "evaluation.bin", "manifest.json")]
LEARNED = [f"laws/full-8/{name}" for name in ("train.bin", "validation.bin", "manifest.json")]
MODEL, OF_LAW = "models/bn4/weights.safetensors", "laws/full-8/models/bn4/weights.safetensors"
RULES = {  # a study of a few files: what each job reads and writes
    "build_corpus": ([], TEXT),
    "draw_windows": (TEXT[2:], ["windows.parquet"]),
    "train": ([*TEXT[:2], TEXT[3]], [MODEL]),
    "adopt": ([], ["models/truth/weights.safetensors"]),
    "logits": (["windows.parquet", MODEL], ["logits/bn4.parquet"]),
    "logits_of_truth": (["windows.parquet", "models/truth/weights.safetensors"], ["logits/truth.parquet"]),
    "score": (["logits/bn4.parquet", "logits/truth.parquet"], ["scores/tv/bn4.parquet"]),
    "table": (["scores/tv/bn4.parquet"], ["tables/tv.csv"]),
    "claims": (["tables/tv.csv"], ["tables/claims.csv"]),
    "law_text": ([*TEXT, MODEL], ["laws/full/text.parquet"]),
    "law_corpus": (["laws/full/text.parquet"], LEARNED),
    "train_on_law": (LEARNED, [OF_LAW]),
}
MAKERS = {output: rule for rule, (_, outputs) in RULES.items() for output in outputs}
RECORDED = (".parquet", ".safetensors", ".json")


class Study:
    """A results folder whose jobs read all their inputs and write what depends on these alone."""

    def __init__(self, results, text, known=True):
        self.results, self.text = results, text
        self.settings = {rule: {"seed": 1} for rule in RULES} | {"build_corpus": {"text": text} if known else {}}

    def make(self):
        for rule in RULES:
            self.run(rule)
        return self

    def run(self, rule):
        inputs, outputs = RULES[rule]
        jobs.asked.clear()
        jobs.asked["inputs"] = self._asked(inputs)
        jobs.asked["outputs"] = {str(self.results / name): name for name in outputs}
        jobs.asked["settings"] = self.settings[rule]
        try:
            for name in inputs:
                self._read(self.results / name)
            self._write(rule, outputs)
        finally:
            jobs.asked.clear()

    def _asked(self, names):
        asked = {}
        for name in names:
            rule, recorded = MAKERS[name], name.endswith(RECORDED)
            entry = {"file": name, "rule": rule, "recorded": recorded, "settings": self.settings[rule]}
            asked |= {str(self.results / name): entry} | (self._asked(RULES[rule][0]) if recorded else {})
        return asked

    def _read(self, path):
        if path.suffix == ".bin":
            read_split(path, path.with_name("manifest.json"), path.stem)
        else:
            read = {".json": read_manifest, ".parquet": read_table, ".safetensors": load_tensors, ".csv": read_csv}
            read[path.suffix](path)

    def _write(self, rule, outputs):
        splits = {}
        for path in (self.results / name for name in outputs):
            path.parent.mkdir(parents=True, exist_ok=True)
            settings = {"settings": json.dumps(self.settings[rule])}
            if path.suffix == ".bin":
                content = f"{self.text} {path.stem}".encode()
                path.write_bytes(content)
                splits[path.stem] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            elif path.suffix == ".json":
                write_sealed(path, {"splits": splits})
            elif path.suffix == ".parquet":
                write_table(path, pa.table({"value": [self.text]}), settings)
            elif path.suffix == ".safetensors":
                theirs = {"texts": '{"corpus/train.bin": "of another project"}'} if rule == "adopt" else {}
                save_tensors(path, {"head": torch.zeros(2)}, settings | theirs)
            else:
                write_csv(pd.DataFrame({"value": [self.text]}), path)


@pytest.fixture(autouse=True)
def outside_a_job(monkeypatch):
    monkeypatch.setattr(jobs, "asked", {})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The results of two texts, which the plan tells apart, or not (as with docstrings)."""
    folder = tmp_path_factory.mktemp("studies")
    return {
        (text, known): Study(folder / f"{text}-{known}", text, known).make()
        for text in ("this", "that")
        for known in (True, False)
    }


def copied(study, folder):
    shutil.copytree(study.results, folder)
    copy = Study(folder, study.text)
    copy.settings = study.settings
    return copy


GROUPS = {
    "corpus": (TEXT, ["draw_windows", "train", "law_text"]),
    "corpus and windows": ([*TEXT, "windows.parquet"], ["draw_windows", "train", "logits", "logits_of_truth"]),
    "corpus and weights": ([*TEXT, MODEL], ["train", "logits", "law_text"]),
    "windows": (["windows.parquet"], ["logits", "logits_of_truth"]),
    "weights": ([MODEL], ["logits", "law_text"]),
    "windows and weights": (["windows.parquet", MODEL], ["logits"]),
    "logits": (["logits/bn4.parquet", "logits/truth.parquet"], ["score"]),
    "windows and logits": (["windows.parquet", "logits/bn4.parquet", "logits/truth.parquet"], ["score", "logits"]),
    "scores": (["scores/tv/bn4.parquet"], ["table"]),
    "tables": (["tables/tv.csv", "tables/.tv.csv.sha256"], ["claims"]),
    "text of a law": (["laws/full/text.parquet"], ["law_corpus"]),
    "corpus of a law": (LEARNED, ["train_on_law"]),
    "all but the corpus": ([name for name in MAKERS if name not in TEXT], ["logits", "score", "table", "law_corpus"]),
    "all": (list(MAKERS), [rule for rule in RULES if RULES[rule][0] and rule != "claims"]),
}
# Where the plan does not know the text, of a whole corpus nothing could tell.
UNKNOWN = [kind for kind, (names, _) in GROUPS.items() if TEXT[0] not in names]
CASES = [
    (kind, rule, known)
    for kind, (_, rules) in GROUPS.items()
    for rule in rules
    for known in (True, False)
    if known or kind in UNKNOWN
]


@pytest.mark.parametrize(("kind", "rule", "known"), CASES)
def test_files_of_another_text_are_named(made, tmp_path, kind, rule, known):
    study = copied(made["this", known], tmp_path / "results")
    study.run(rule)
    for name in GROUPS[kind][0]:
        shutil.copy(made["that", known].results / name, study.results / name)
    written = [study.results / name for name in RULES[rule][1]]
    before = [path.read_bytes() for path in written]
    with pytest.raises(UserError, match=r"results/\S+: (of another text than|made (from|with)) .*; run again") as error:
        study.run(rule)
    assert "\n" not in str(error.value)
    assert [path.read_bytes() for path in written] == before


def test_the_corpus_of_one_law_is_not_that_of_another(made, tmp_path):
    """Both are of this text."""
    study = copied(made["this", True], tmp_path / "results")
    shutil.copytree(study.results / "laws/full-8", study.results / "laws/zeros-8")
    other = (study.results / "laws/zeros-8/manifest.json").read_text().replace("full-8", "zeros-8")
    write_sealed(study.results / "laws/full-8/manifest.json", json.loads(other))
    with pytest.raises(UserError, match=r"manifest\.json: holds laws/zeros-8/manifest\.json, not laws/full-8/manif"):
        study.run("train_on_law")


def test_what_the_error_says(made, tmp_path):
    study = copied(made["this", False], tmp_path / "results")
    shutil.copy(made["that", False].results / "logits/truth.parquet", study.results / "logits/truth.parquet")
    results = study.results
    message = (
        f"{results}/logits/truth.parquet: of another text than {results}/corpus/manifest.json (corpus/evaluation.bin "
        "differs); run again with --forcerun logits_of_truth"
    )
    with pytest.raises(UserError) as error:
        study.run("score")
    assert str(error.value) == message
    (results / "corpus/manifest.json").unlink()  # the first that was read tells instead
    with pytest.raises(UserError, match=r"truth\.parquet: of another text than .*/logits/bn4\.parquet"):
        study.run("score")


def test_adopted_weights_are_of_no_text(made):
    models = made["this", True].results / "models"
    truth, bn4 = (load_metadata(models / name / "weights.safetensors") for name in ("truth", "bn4"))
    assert truth["texts"] == "{}"
    assert json.loads(bn4["texts"]).keys() == {"corpus/train.bin", "corpus/validation.bin"}


def test_the_same_text_makes_the_same_files_and_another_is_trained_on_when_all_is_made_again(made, tmp_path):
    study = copied(made["this", True], tmp_path / "results")
    before = {path: path.read_bytes() for path in study.results.rglob("*") if path.is_file()}
    study.make()
    assert {path: path.read_bytes() for path in before} == before
    Study(study.results, "that").make()
