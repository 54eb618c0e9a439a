"""A valid file under the path of another, in a finished study, and what the job that reads it says of it."""

import re
from pathlib import Path

from flips import recorded_jobs

from oversmoothing.models.logit_files import head_file

RESULTS = Path("results")
STATES_ITSELF = (".parquet", ".safetensors")  # suffixes of files that say what they are
WINDOWS = {"windows.parquet", "second_windows.parquet"}


def swaps(elsewhere):
    """Return each way in which a file that a job reads differs from one of this or another study that it could be.

    The jobs are those of the study in the working directory; see `exchange`.
    """
    found = {}
    for main, job in recorded_jobs():
        for path in files_read(job):
            for other, difference in others(path, elsewhere):
                found.setdefault(difference, []).append((main, job, {path: other}))
    return found


def files_read(job):
    """Yield the files that a job reads and that state what they are."""
    for path in map(Path, job.input):
        for file in [path] if path.is_file() else sorted(path.iterdir()):
            if file.suffix in STATES_ITSELF and RESULTS in file.parents:
                yield file
                if head_file(file).is_file() and "logits" in file.parts:
                    yield head_file(file)


def others(path, elsewhere):
    """Yield the files that could be mistaken for one, and in what they differ."""
    name = path.relative_to(RESULTS)
    for other in sorted(RESULTS.rglob(f"*{path.suffix}")):
        if difference := differ(name.as_posix(), other.relative_to(RESULTS).as_posix()):
            yield other, difference
    there = elsewhere / path
    if there.is_file() and there.read_bytes() != path.read_bytes():
        yield there, "study"


def differ(name, other):
    """In what two results differ: in one part of their names, or in whether they are of the showcase."""
    if "showcase/" + name == other or name == "showcase/" + other:
        return "showcase"
    parts = [(a, b) for a, b in zip(name.split("/"), other.split("/"), strict=False) if a != b]
    if name.count("/") != other.count("/") or len(parts) != 1:
        return None
    (one, another), folder = parts[0], name.split("/")[0]
    if name.endswith(".head.safetensors"):
        return "head" if other.endswith(".head.safetensors") else None
    if re.fullmatch(r"\d{8}\..*", one):
        return "step"
    if name == one:
        return "windows" if {one, another} == WINDOWS else None
    if folder == "samples" and name.endswith(one):
        return "decoding"
    if folder == "scores" and not name.endswith(one):
        return "metric"
    if re.sub(r"-s\d+", "", one) == re.sub(r"-s\d+", "", another):
        return "seed"
    if folder == name.split("/")[0] and {re.sub(r"\W.*", "", part) for part in (one, another)} == {"truth", "other"}:
        return "truth"
    return "model" if folder == other.split("/")[0] else None
