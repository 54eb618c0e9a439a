"""Progress of each model and its training while a run is under way."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from oversmoothing.data.reader import read_manifest
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.run.progress import outdated, overview, read_summary, training_state
from oversmoothing.store.atomic import atomic_path
from oversmoothing.tables.formats import markdown
from oversmoothing.tables.page import Page, Section


def main(job: Job) -> None:
    """Ask Snakemake which files are finished; write so_far/progress.md and print it."""
    settings = job.params.settings
    results, models = settings["results"], settings["models"]
    states = read_summary(summary(settings["snakefile"], settings["config"]))
    manifest = Path(results, "corpus/manifest.json")
    corpus = read_manifest(manifest) if manifest.exists() else {}
    trainings = {
        model["model"]: training_state(model, states, results, job.params.training_code, corpus) for model in models
    }
    legend: list[str] = []
    if old := outdated(states, results):
        counts = ", ".join(f"{folder} ({count})" for folder, count in old.items())
        legend = [f"To be made again, because the config, the text or the code has changed since: {counts}"]
    section = Section("", overview(models, trainings, states, results))
    text = markdown(Page("So far", [section], legend))
    with atomic_path(Path(results, "so_far/progress.md")) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(text)


def summary(snakefile: str, config: Any) -> str:
    """Return Snakemake's summary: which files exist and which must be remade. It takes no lock and writes nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        command = [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "--configfile", file.name]
        done = subprocess.run([*command, "--summary", "--nolock"], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"snakemake --summary failed: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


if __name__ == "__main__":
    run(main)
