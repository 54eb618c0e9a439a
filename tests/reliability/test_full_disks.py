"""Five disks that fill up at random moments: each is named in one line; with room again the run ends as it should."""

import os
import random
import subprocess

import pytest
from study import TABLE, copy_project

DISKS = int(os.environ.get("DISKS", "5"))


@pytest.mark.slow
def test_full_disks_are_named_and_lose_nothing(tmp_path):
    straight = copy_project(tmp_path / "straight")
    straight.snakemake(TABLE)
    needed = sum(path.stat().st_size for path in straight.folder.glob("results/**/*") if path.is_file())
    draw = random.Random(1)
    stopped = []
    for number in range(DISKS):
        study = copy_project(tmp_path / str(number))
        (study.folder / "results").mkdir()
        (study.folder / "checkpoints").symlink_to(study.folder / "results/checkpoints")
        kilobytes = int(draw.uniform(0.1, 0.95) * needed / 1024)
        with Disk(study.folder / "results", kilobytes) as disk:
            (study.folder / "results/checkpoints").mkdir()
            output = study.snakemake(TABLE, check=False)
            assert "no space left" in output.lower(), output
            assert "Traceback" not in output, output
            stopped.append(f"{kilobytes} of {needed // 1024} kB")
            disk.grow(20 * needed // 1024)
            study.unlock()
            study.snakemake(TABLE)
            assert [name for name in study.differences(straight) if not name.startswith("checkpoints/")] == []
            assert study.planned(TABLE) == {}
    print(f"\n{len(stopped)} full disks: {', '.join(stopped)}")


class Disk:
    """A small disk in memory."""

    def __init__(self, folder, kilobytes):
        self.folder, self.kilobytes = folder, kilobytes

    def __enter__(self):
        mount = ["mount", "-t", "tmpfs", "-o", f"size={self.kilobytes}k", "tmpfs", str(self.folder)]
        if subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("only root can mount a small disk")
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.folder)], check=True)

    def grow(self, kilobytes):
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(self.folder)], check=True)
