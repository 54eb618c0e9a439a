"""Damage to one file of a finished study, and what the job that reads the file says of it."""

import importlib
import os
import pickle
import random
import shutil
import sys
from collections import Counter
from functools import cache
from pathlib import Path

from study import copy_project

from oversmoothing import jobs
from oversmoothing.fingerprint import relative
from oversmoothing.jobs import UserError

NAMED, HARMLESS, SILENT, TRACEBACK = "named", "harmless", "SILENT", "TRACEBACK"
UNREPEATABLE = {"costs", "build_corpus"}  # the one measures time; the other reads the user's text, which is theirs
OURS = ("results", "resources")  # folders of a study whose files this project writes
SEED = int(os.environ.get("DAMAGE_SEED", "0"))
BLOCK = 512  # bytes that a disk loses together
RECORD = """

def _record(main, job):
    import pathlib, pickle

    path = pathlib.Path("jobs", "-".join([job.rule, *map(str, job.wildcards)]).replace("/", "_") + ".pickle")
    path.parent.mkdir(exist_ok=True)
    script = pathlib.Path(main.__globals__["__file__"]).resolve()  # Snakemake runs a copy, whose code has another name
    path.write_bytes(pickle.dumps((script, job)))
"""


def finished_study(folder, config):
    """Run everything once in a copy of the project whose jobs leave a record of themselves."""
    study = copy_project(folder)
    jobs = study.folder / "scripts/oversmoothing/jobs.py"
    study.edit(
        "scripts/oversmoothing/jobs.py",
        "    log = str(job.log[0])",
        "    _record(main, job)\n    log = str(job.log[0])",
    )
    jobs.write_text(jobs.read_text() + RECORD)
    study.snakemake("all", config=config)
    return study


def recorded_jobs():
    """Read the records of the study in the working directory: what runs a job, and the job."""
    records = [pickle.loads(path.read_bytes()) for path in sorted(Path("jobs").iterdir())]
    return [(_main(script), job) for script, job in records if job.rule not in UNREPEATABLE]


def _main(script):
    """Return what runs the jobs of a script, given by its path in the project in the working directory."""
    parts = Path(relative(script, *(Path.cwd().resolve() / part for part in ("scripts", "workflow")))).with_suffix("")
    return importlib.import_module(".".join(parts.parts)).main


def campaign(damages):
    """Do each damage to one file, as many in each kind of file; return the counts by (kind, outcome).

    A damage is a function from the draw and the content of a file to what the file then holds.
    """
    draw, counts = random.Random(SEED), Counter()
    readers, expected = {}, {}
    for main, job in recorded_jobs():
        files, expected[_key(job)] = _undisturbed(main, job)
        for path in files:
            readers.setdefault(_kind(path), []).append((path, main, job))
    for number, damage in enumerate(damages):
        kind = sorted(readers)[number % len(readers)]
        path, main, job = draw.choice(readers[kind])
        damaged = damage(draw, path.read_bytes())
        outcome = outcome_of(main, job, {path: damaged}, expected[_key(job)])
        counts[kind, outcome] += 1
        if outcome in (SILENT, TRACEBACK):
            print(f"{outcome}: {damage.__name__} {path}, read by {job.rule}; number {number}")
    return _printed(counts)


def exchange(cases, count):
    """Run `count` jobs while files hold what others do, in turn for each kind; return counts by (kind, outcome).

    The cases of a kind are triples: what runs a job, the job, and of each file the one whose content it is to hold.
    """
    draw, counts, expected = random.Random(SEED), Counter(), {}
    for number in range(count):
        kind = sorted(cases)[number % len(cases)]
        main, job, files = draw.choice(cases[kind])
        if _key(job) not in expected:
            run_again(main, job)
            expected[_key(job)] = outputs_of(job)
        held = {path: other.read_bytes() for path, other in files.items()}
        outcome = outcome_of(main, job, held, expected[_key(job)])
        counts[kind, outcome] += 1
        path, other = next(iter(files.items()))
        print(f"{outcome}: {kind}, {len(files)} files such as {other} as {path}, read by {' '.join(_key(job))}")
    return _printed(counts)


def _printed(counts):
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{count:4} {outcome:9} {kind}")
    return counts


def outcome_of(main, job, damaged, expected):
    """Run a job while files that it reads hold something else; return what comes of it, and leave all as it was."""
    contents = {path: path.read_bytes() for path in damaged}
    _write(damaged)
    try:
        run_again(main, job)
        outcome = HARMLESS if outputs_of(job) == expected else SILENT
    except UserError as error:
        names = [name for path in damaged for name in (path.name, path.parent.name)]
        outcome = NAMED if any(name in str(error) for name in names) else TRACEBACK
    except Exception as error:
        outcome = TRACEBACK
        print(f"{type(error).__name__}: {error}")
    _write(contents | expected)
    return outcome


def _write(contents):
    for path, content in contents.items():
        path.unlink(missing_ok=True)  # a snapshot is one file with that of its training
        path.write_bytes(content)


def run_again(main, job):
    """Run a job from its beginning in this process."""
    jobs.asked.clear()
    jobs.asked.update(job.params.asked)
    _start_anew(job)
    try:
        main(job)
    finally:
        jobs.asked.clear()


def flipped(draw, content):
    """Return the content with one bit flipped."""
    damaged = bytearray(content)
    bit = draw.randrange(8 * len(content))
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def cut(draw, content):
    """Return the content without its end."""
    return content[: draw.randrange(len(content))]


def zeroed(draw, content):
    """Return the content with one block of zeros."""
    start = draw.randrange(len(content)) // BLOCK * BLOCK
    return (content[:start] + bytes(BLOCK) + content[start + BLOCK :])[: len(content)]


def _undisturbed(main, job):
    """Run a job; return the files of the study that it reads, and what it writes."""
    _opened().paths = opened = set()
    run_again(main, job)
    _opened().paths = None
    outputs = outputs_of(job)
    root = Path.cwd()
    found = {Path(path) for path in job.input} | {path.relative_to(root) for path in opened if root in path.parents}
    found = {path for path in found if path.parts[0] in OURS and path.is_file() and path.stat().st_size}
    written = {Path(path) for path in (*job.output, *job.log)}
    return sorted(path for path in found if not {path, *path.parents} & written), outputs


class _Opened:
    """The files that this process opens for reading, while `paths` is a set."""

    def __init__(self):
        self.paths = None
        sys.addaudithook(self._hear)  # Python takes none away again

    def _hear(self, event, arguments):
        if event == "open" and self.paths is not None:
            path, mode, _ = arguments
            if isinstance(path, str | Path) and "r" in (mode or "r"):
                self.paths.add(Path(path).absolute())


@cache
def _opened():
    return _Opened()


def _start_anew(job):
    """Delete what an earlier run of a training left, from which it would go on."""
    checkpoints = getattr(job.params, "checkpoints", None)
    if checkpoints:
        shutil.rmtree(checkpoints["folder"], ignore_errors=True)


def _key(job):
    return (job.rule, *job.wildcards)


def _kind(path):
    """Name a file by its folder and the last part of its name, whatever the model: ``logits/*.parquet``."""
    folder = path.parts[1] if path.parts[0] == "results" else path.parent.name
    return f"{folder}/*{path.suffix or '/' + path.name}" if len(path.parts) > 2 else path.name


def outputs_of(job):
    """Return what a job has written, by file."""
    files = [file for path in map(Path, job.output) for file in ([path] if path.is_file() else path.iterdir())]
    return {file: file.read_bytes() for file in files}
