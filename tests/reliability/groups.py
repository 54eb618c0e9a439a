"""Several valid files that fit each other under the paths of others, and what the job that reads them says of them."""

from pathlib import Path

from flips import recorded_jobs
from swaps import RESULTS

SPLITS = [f"corpus/{split}.bin" for split in ("train", "validation", "evaluation")]
TEXT = [*SPLITS, "corpus/manifest.json"]
OF_ANOTHER_TEXT = {  # files under their own paths, from a study that differs in nothing but its text
    "corpus": TEXT,
    "windows": ["windows.parquet"],
    "corpus and windows": [*TEXT, "windows.parquet"],
    "weights": ["models/*/weights.safetensors"],
    "models": ["models/*/*", "models/*/snapshots/*"],
    "windows and logits": ["windows.parquet", "logits/*", "hidden/*"],
    "logits": ["logits/*"],
    "samples": ["samples/*/*"],
    "text of a law": ["laws/*/text.parquet", "laws/*/windows.parquet"],
    "corpora of laws": ["laws/*/*.bin", "laws/*/manifest.json"],
    "models of laws": ["laws/*/models/*/*"],
    "logits of laws": ["laws/*/windows.parquet", "laws/*/logits/*", "laws/*/law.parquet"],
    "scores of laws": ["laws/*/scores/*/*"],
    "all": ["*", "*/*", "*/*/*", "*/*/*/*", "*/*/*/*/*"],
}
IN_EACH_OTHERS = {  # places in this study that exchange what they hold
    "two corpora of laws": [("laws/full-40", "laws/zeros-40")],
    "two laws": [("laws/full", "laws/zeros")],
    "two seeds": [("models/bn4-s1337", "models/bn4-s1")],
    "two metrics": [("laws/full-40/scores/nsmd", "laws/full-40/scores/tv")],
    "two models": [(f"{folder}/bn4-s1337.parquet", f"{folder}/bn4-s1.parquet") for folder in ("logits", "hidden")],
    "model and truth": [(f"{folder}/bn4-s1.parquet", f"{folder}/truth.parquet") for folder in ("logits", "hidden")],
}


def swapped_groups(elsewhere):
    """Return, for each kind of group, the jobs of the study in the working directory that read it; see `exchange`.

    `elsewhere` has the same results of another text.
    """
    found, cases = groups(elsewhere), {}
    for main, job in recorded_jobs():
        for kind, group in found.items():
            if any(is_read(path, job) for path in group):
                cases.setdefault(kind, []).append((main, job, group))
    return cases


def groups(elsewhere):
    """Return the groups by their kind: of each file of this study, the file whose content it is to hold."""
    found = {}
    for kind, patterns in OF_ANOTHER_TEXT.items():
        paths = [path for pattern in patterns for path in sorted(RESULTS.glob(pattern))]
        found[f"{kind} of another text"] = {path: elsewhere / path for path in paths}
    for kind, pairs in IN_EACH_OTHERS.items():
        both = [
            (RESULTS / here, RESULTS / there) for one, other in pairs for here, there in ((one, other), (other, one))
        ]
        found[kind] = {
            path: there / path.relative_to(here) for here, there in both for path in (here, *here.rglob("*"))
        }
    return {kind: group for kind, pairs in found.items() if (group := dict(filter(_differ, pairs.items())))}


def _differ(pair):
    return all(path.is_file() for path in pair) and pair[0].read_bytes() != pair[1].read_bytes()


def is_read(path, job):
    """Whether a job declares a file, or a folder that it lies in, as its input."""
    return any(place in (path, *path.parents) for place in map(Path, job.input))
