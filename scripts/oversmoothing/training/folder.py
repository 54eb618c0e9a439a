"""The folder of one training: its key, its files and their deletion."""

import glob
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oversmoothing.fingerprint import installed, versions
from oversmoothing.store.provenance import digest


def training_key(settings: Mapping[str, Any], code: str, corpus: Mapping[str, Any], packages: Mapping[str, str]) -> str:
    """Return the digest of all that the weights depend on.

    That is the settings, the fingerprint of the code, the manifest of the corpus and the packages.

    The packages are those installed (`training_packages`), while those in `code` are the lock's.
    """
    splits = corpus.get("splits", {})
    text = {split: splits[split]["sha256"] for split in ("train", "validation") if split in splits}
    text |= {key: corpus[key] for key in ("sequences",) if key in corpus}
    return digest({"settings": settings, "code": code, "corpus": text, "packages": dict(packages)})


def training_packages() -> dict[str, str]:
    """Return the installed versions of the packages that a training computes with, such as 2.13 of PyTorch."""
    return installed(versions("train.py"))


@dataclass(frozen=True)
class Folder:
    """Paths of one training's files, outside the rule's declared outputs, which Snakemake deletes when a job fails."""

    path: Path

    @classmethod
    def of(cls, checkpoints: str | Path, key: str) -> "Folder":
        """Return the folder of the training with this key, beside others of its model.

        Its name is like ``results/checkpoints/bn4-s1337-...``.
        """
        return cls(Path(f"{checkpoints}-{key[:8]}"))

    @property
    def resume(self) -> Path:
        """File from which training resumes; after its end, only its history."""
        return self.path / "resume.safetensors"

    @property
    def best(self) -> Path:
        """Weights with the lowest validation loss so far."""
        return self.path / "best.safetensors"

    def snapshot(self, step: int) -> Path:
        """Return weights after this number of steps."""
        return self.path / "snapshots" / f"{step:08d}.safetensors"

    def state(self, step: int) -> Path:
        """Return the state after this number of steps, from which other trainings go on."""
        return self.path / "states" / f"{step:08d}.safetensors"

    def others(self) -> list[Path]:
        """Return folders of other trainings of the same model."""
        siblings = self.path.parent.glob(glob.escape(self.path.name[:-8]) + 8 * "[0-9a-f]")
        return sorted(path for path in siblings if path != self.path and Folder(path).resume.exists())

    def clear(self) -> None:
        """Delete the files of the training, and no others."""
        folders = [self.snapshot(0).parent, self.state(0).parent]
        kept = [path for folder in folders for path in folder.glob(8 * "[0-9]" + ".safetensors")]
        for path in (self.resume, self.best, *kept):
            path.unlink(missing_ok=True)
        for path in (part for folder in (self.path, *folders) for part in folder.glob(".*.part")):  # a killed write's
            path.unlink(missing_ok=True)
        for folder in folders:
            with suppress(OSError):  # not empty, or none was kept
                folder.rmdir()
