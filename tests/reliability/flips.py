"""One flipped bit in one file of a finished study, and what the job that reads the file says of it."""

import importlib
import pickle
import random
from collections import Counter
from pathlib import Path

from study import copy_project

from oversmoothing.jobs import UserError

NAMED, HARMLESS, SILENT, TRACEBACK = "named", "harmless", "SILENT", "TRACEBACK"
UNREPEATABLE = {"costs", "build_corpus"}  # the one measures time; the other reads the user's text, which is theirs
RECORD = """

def _record(main, job):
    import pathlib, pickle

    path = pathlib.Path("jobs", "-".join([job.rule, *map(str, job.wildcards)]).replace("/", "_") + ".pickle")
    path.parent.mkdir(exist_ok=True)
    script = pathlib.Path(main.__code__.co_filename).name.split(".")[1]
    path.write_bytes(pickle.dumps((script, job)))
"""


def finished_study(folder):
    """Run everything once in a copy of the project whose jobs leave a record of themselves."""
    study = copy_project(folder)
    jobs = study.folder / "scripts/oversmoothing/jobs.py"
    study.edit(
        "scripts/oversmoothing/jobs.py",
        "    log = str(job.log[0])",
        "    _record(main, job)\n    log = str(job.log[0])",
    )
    jobs.write_text(jobs.read_text() + RECORD)
    study.snakemake("all")
    return study


def recorded_jobs():
    """Read the records of the study in the working directory: what runs a job, and the job."""
    records = [pickle.loads(path.read_bytes()) for path in sorted(Path("jobs").iterdir())]
    assert {job.rule for _, job in records} >= UNREPEATABLE
    return [(importlib.import_module(script).main, job) for script, job in records if job.rule not in UNREPEATABLE]


def campaign(count, seed, log=print):
    """Flip `count` bits, one at a time and as many in each kind of file; return the counts by (kind, outcome)."""
    draw, counts, expected = random.Random(seed), Counter(), {}
    readers = {}
    for main, job in recorded_jobs():
        for path in map(Path, job.input):
            readers.setdefault(_kind(path), []).append((path, main, job))
    for number in range(count):
        kind = sorted(readers)[number % len(readers)]
        path, main, job = draw.choice(readers[kind])
        if path.is_dir():
            path = draw.choice(sorted(file for file in path.iterdir() if file.suffix == ".safetensors"))
        key = (job.rule, *job.wildcards)
        if key not in expected:
            main(job)
            expected[key] = _outputs(job)
        content = path.read_bytes()
        bit = draw.randrange(8 * len(content))
        path.write_bytes(_flipped(content, bit))
        try:
            main(job)
            outcome = HARMLESS if _outputs(job) == expected[key] else SILENT
        except UserError as error:
            outcome = NAMED if path.name in str(error) or path.parent.name in str(error) else TRACEBACK
        except Exception as error:
            outcome = TRACEBACK
            log(f"{type(error).__name__}: {error}")
        path.write_bytes(content)
        for output, whole in expected[key].items():
            output.write_bytes(whole)
        counts[kind, outcome] += 1
        if outcome in (SILENT, TRACEBACK):
            log(f"{outcome}: bit {bit} of {path} ({len(content)} bytes), read by {job.rule}")
    return counts


def _kind(path):
    """Name a file by its folder and the last part of its name, whatever the model: ``logits/*.parquet``."""
    folder = path.parts[1] if path.parts[0] == "results" else path.parent.name
    return f"{folder}/*{path.suffix or '/' + path.name}" if len(path.parts) > 2 else path.name


def _flipped(content, bit):
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def _outputs(job):
    files = [file for path in map(Path, job.output) for file in ([path] if path.is_file() else path.iterdir())]
    return {file: file.read_bytes() for file in files}
