"""The folder that a training has to itself: what tells two trainings apart, and what of it is ours to delete."""

import glob
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oversmoothing.store.provenance import digest


def training_key(settings: Mapping[str, Any], code: str, corpus: Mapping[str, Any]) -> str:
    """Return a digest of all that the weights depend on.

    Parameters
    ----------
    settings : mapping
        ``model``, ``training``, ``seed``.
    code : str
        Fingerprint of the training's code.
    corpus : mapping
        The corpus's manifest; empty where there is none yet.
    """
    splits = corpus.get("splits", {})
    sha256 = {split: splits[split]["sha256"] for split in ("train", "validation") if split in splits}
    return digest({"settings": settings, "code": code, "corpus": sha256})


@dataclass(frozen=True)
class Folder:
    """Where the files of one training lie.

    Attributes
    ----------
    path : Path
        Lives outside the rule's declared outputs, because Snakemake deletes those of a failed job.
    """

    path: Path

    @classmethod
    def of(cls, checkpoints: str | Path, key: str) -> "Folder":
        """Name the folder of the training with this key; others of the same model lie beside it.

        Parameters
        ----------
        checkpoints : path
            The same for all trainings of a model, such as ``results/checkpoints/bn4-s1337``.
        key : str
            From `training_key`.
        """
        return cls(Path(f"{checkpoints}-{key[:8]}"))

    @property
    def resume(self) -> Path:
        """What training goes on from; of one that has ended, no more than its history."""
        return self.path / "resume.safetensors"

    @property
    def best(self) -> Path:
        """The weights of the lowest validation loss so far."""
        return self.path / "best.safetensors"

    def snapshot(self, step: int) -> Path:
        """Return the file of the weights after some steps."""
        return self.path / "snapshots" / f"{step:08d}.safetensors"

    def others(self) -> list[Path]:
        """List the folders of other trainings of the same model."""
        stem = glob.escape(self.path.name[:-8])
        found = self.path.parent.glob(stem + 8 * "[0-9a-f]")
        return sorted(path for path in found if path != self.path and Folder(path).resume.exists())

    def clear(self) -> None:
        """Delete the files of the training, whatever else lies there."""
        snapshots = self.snapshot(0).parent
        for path in (self.resume, self.best, *snapshots.glob(8 * "[0-9]" + ".safetensors")):
            path.unlink(missing_ok=True)
        for path in (*self.path.glob(".*.part"), *snapshots.glob(".*.part")):  # of a write that was killed
            path.unlink(missing_ok=True)
        with suppress(OSError):  # not empty, or none was kept
            snapshots.rmdir()
