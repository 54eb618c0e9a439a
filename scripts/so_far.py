"""Tables from the models that are finished, and how far the others have come, while a run is under way."""

import json
import logging
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import argmaxability_table
import effective_rank_table
import losses_table
import quality_table
import score_table
from oversmoothing.corpus.reader import read_manifest
from oversmoothing.jobs import UserError, run
from oversmoothing.progress import outdated, overview, read_summary, training_state
from oversmoothing.so_far import missing_line, part_of
from oversmoothing.store.atomic import atomic_path

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake, snakemake

logger = logging.getLogger(__name__)

SCRIPTS = {
    "argmaxability": argmaxability_table,
    "effective_rank": effective_rank_table,
    "losses": losses_table,
    "sample_quality": quality_table,
}  # all others are tables of scores
SHOWN = {"csv": ".csv", "markdown": ".md"}


def main(job: "Snakemake") -> None:
    """Ask Snakemake what is finished; write so_far/tables and so_far/progress.md anew and print the latter."""
    settings = job.params.settings
    results = settings["results"]
    states = read_summary(summary(settings["snakefile"], settings["config"]))
    manifest = Path(results, "corpus/manifest.json")
    corpus = read_manifest(manifest) if manifest.exists() else {}
    models = settings["models"]
    trainings = {
        model["model"]: training_state(model, states, results, job.params.training_code, corpus) for model in models
    }
    folder = Path(results, "so_far")
    folder.mkdir(exist_ok=True, parents=True)
    lines = ["# So far", "", overview(models, trainings, states, results).to_markdown(index=False), ""]
    with tempfile.TemporaryDirectory(dir=folder) as made:
        for name, table in settings["tables"].items():
            try:
                told = render(name, table, models, trainings, states, results, Path(made))
            except UserError as error:  # a file that is damaged, or was deleted a moment ago to be made again
                told = f"not made: {error}"
            lines.append(f"- {name}: {told}")
        shutil.rmtree(folder / "tables", ignore_errors=True)
        (folder / "tables").mkdir()
        for file in Path(made).iterdir():
            if file.suffix in SHOWN.values():
                file.rename(folder / "tables" / file.name)
    if old := outdated(states, results):
        counts = ", ".join(f"{folder} ({count})" for folder, count in old.items())
        lines += ["", f"To be made again, and in no table, for they are of another config, text or code: {counts}."]
    with atomic_path(folder / "progress.md") as temporary:
        temporary.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))


def summary(snakefile: str, config: Any) -> str:
    """Ask Snakemake of every file whether it is there and would be made again; it takes no lock and writes nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        command = [sys.executable, "-m", "snakemake", "--snakefile", snakefile, "--configfile", file.name]
        done = subprocess.run([*command, "--summary", "--nolock"], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"snakemake --summary failed: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def render(
    name: str,
    table: dict[str, Any],
    models: list[dict[str, Any]],
    trainings: dict[str, str],
    states: dict[str, str],
    results: str,
    folder: Path,
) -> str:
    """Write one table from what is finished of it; say what is missing."""
    part = part_of(table["input"], list(trainings), states, results)
    if part.lacking:
        return f"waits for {', '.join(part.lacking)}"
    against = "scores" in table["input"] and table["settings"]["truths"]
    truths = [model["model"] for model in models if model["kind"] == "truth"] if against else []
    line = missing_line(part, truths, trainings, states, results)
    if part.empty:
        return f"nothing yet. {line}"
    files = {key: str(folder / f"{name}{SHOWN.get(key, '.' + key)}") for key in table["output"]}
    job = SimpleNamespace(
        input=SimpleNamespace(**part.inputs),
        output=SimpleNamespace(**files),
        params=SimpleNamespace(settings={**table["settings"], "missing": part.missing}),
    )
    SCRIPTS.get(name, score_table).main(job)
    if line:
        with Path(files["markdown"]).open("a", encoding="utf-8") as page:
            page.write(f"\n{line}\n")
    return line or "complete."


if __name__ == "__main__":
    run(main, snakemake)
