"""A copy of the project with a small text, and Snakemake run in it as a user would."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import forked

from oversmoothing.fingerprint import KEPT
from oversmoothing.tables.record import read_record

ROOT = Path(__file__).resolve().parents[2]
TABLE = "results/tables/oversmoothing.csv"
MODELS = "results/models.parquet"
TINY = "tests/config/tiny.yaml"
ARMS = (TINY, "tests/config/arms.yaml")
TOKENS = (TINY, "tests/config/tokens.yaml")
SWAPS = (TINY, "tests/config/swaps.yaml")
RULES_IN = {
    "rules.smk": re.compile(r"^ *(?:rule|use rule \w+ as) (\w+)", re.MULTILINE),
    "plan.py": re.compile(r'\bTable\(\s*"(\w+)"'),
}
COMPILED = "compiled"  # by numba, in the folder of a project and with it


@dataclass
class Study:
    """A project folder under test, and one or several configs for where a test names none."""

    folder: Path
    config: str | tuple[str, ...] = TINY

    def path(self, name):
        """Return the path of a result."""
        return self.folder / "results" / name

    def table(self, name):
        """Read a table of the results."""
        return read_record(self.path(f"tables/{name}.csv"))

    def command(self, *targets, config=None, options=()):
        """Return the command that builds targets (the main table; "": none)."""
        config = config or self.config
        configs = [config] if isinstance(config, str) else config
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", *configs, *options]
        return [*command, "--", *filter(None, targets or (TABLE,))]

    def environment(self):
        """Return the environment of its processes."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        return inherited | {"NUMBA_CACHE_DIR": str(self.folder / COMPILED)}

    def snakemake(self, *targets, config=None, options=(), check=True):
        """Run Snakemake, which must succeed, or fail with `check=False`; return its whole output."""
        _, _, _, *arguments = self.command(*targets, config=config, options=options)
        status, output = forked.call(arguments, self.folder, self.environment())
        assert (status == 0) == check, output
        return output

    def start(self, *targets, config=None):
        """Start Snakemake in a session of its own, to be shot with all its jobs; what it says is in `output`."""
        command, environment = self.command(*targets, config=config), self.environment()
        with (self.folder / "output").open("w") as output:
            heard = {"stdout": output, "stderr": subprocess.STDOUT}
            return subprocess.Popen(command, cwd=self.folder, env=environment, start_new_session=True, **heard)

    def shoot(self, process):
        """Kill what was started with all its jobs, and do what Snakemake then asks for."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.unlock()

    def unlock(self):
        """Do what Snakemake asks for after it was shot."""
        self.snakemake(options=["--unlock"])

    def differences(self, other):
        """List the files of results that are not the same to the byte, or are in one of the studies only; no logs."""
        roots = [study.folder / "results" for study in (self, other)]
        paths = {path.relative_to(root) for root in roots for path in root.rglob("*")}
        read = {path: [(root / path).read_bytes() for root in roots if (root / path).is_file()] for path in paths}
        different = [path for path, contents in read.items() if len(contents) == 1 or len({*contents}) > 1]
        return sorted(str(path) for path in different if path.suffix not in (".log", ".lock"))

    def python(self, *arguments, path="workflow:scripts"):
        """Run Python, which must succeed, with the project's own code; return what it prints, by stream."""
        environment = self.environment() | {"PYTHONPATH": path}
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def planned(self, target=TABLE, *more, config=None):
        """Return what a dry-run would do: jobs by rule."""
        output = self.snakemake(target, *more, config=config, options=["-n"])
        if "Nothing to be done" in output:
            return {}
        stats = output.split("Job stats:")[1].split("total")[0]
        return {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", stats, flags=re.MULTILINE)}

    def edit(self, path, old, new):
        """Replace a piece of a file; return a function that puts it back."""
        path = self.folder / path
        text = path.read_text()
        assert old in text, f"{path} no longer holds {old!r}"
        path.write_text(text.replace(old, new, 1))
        return lambda: path.write_text(text)


def rules_of(name="*"):
    """Names of the rules of a study, or of all: of its chapter, and of the tables and figures in its plan."""
    code = {part: [path.read_text() for path in ROOT.glob(f"workflow/studies/{name}/{part}")] for part in RULES_IN}
    return {rule for part, pattern in RULES_IN.items() for text in code[part] for rule in pattern.findall(text)}


def pages():
    """Return the pages that list tables, figures and Parquet files: docs/results.md and the README of each study."""
    return [path.read_text() for path in (ROOT / "docs/results.md", *sorted(ROOT.glob("workflow/studies/*/README.md")))]


def listed(kind, words=""):
    """Names of the tables or figures ("Tables", "Figures") that pages list; with words, in rows that have them.

    They stand in a part of that name, or have their folder before them.
    """
    parts = [part for page in pages() for part in page.split("\n## ") if part.startswith(kind)]
    names = re.findall(rf"^\| `(\w+)`.*{words}", "\n".join(parts), flags=re.MULTILINE)
    folder = kind.lower() or "(?:tables|figures)"
    return names + re.findall(rf"^\| `{folder}/(\w+)`.*{words}", "\n".join(pages()), flags=re.MULTILINE)


def copy_project(folder, built=None):
    """Copy what a clone holds, and write a small text beside it; what a built project has compiled stays compiled."""
    for name in ("workflow", "scripts", "config", "resources", "envs", "slurm", "tests/config"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".snakemake"))
    write_text(folder / "text.jsonl")
    if built:
        _keep_compiled(folder, built)
    return Study(folder)


def copy_built(built, folder):
    """Copy a project with all that it has built and compiled."""
    shutil.copytree(built, folder, ignore=shutil.ignore_patterns(COMPILED))
    _keep_compiled(folder, built)
    return Study(folder)


def _keep_compiled(folder, built):
    """Copy what another project has read of the code, and its machine code, which numba finds by its folder's hash."""
    (folder / KEPT).parent.mkdir(exist_ok=True)
    shutil.copy(built / KEPT, folder / KEPT)
    for source in (built / COMPILED).iterdir():
        name = source.name.rsplit("_", 1)[0]
        (module,) = (path for path in (folder / "scripts/oversmoothing").rglob(name) if path.is_dir())
        digest = hashlib.sha1(str(module).encode()).hexdigest()
        shutil.copytree(source, folder / COMPILED / f"{name}_{digest}", dirs_exist_ok=True)


def write_text(path):
    """Write documents of made-up sentences, enough that the training split is above 1 MB."""
    draw = random.Random(0)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(2000)]
    with path.open("w") as file:
        for _ in range(3000):
            sentences = [" ".join(draw.choices(words, k=12)).capitalize() + "." for _ in range(6)]
            file.write(json.dumps({"text": " ".join(sentences)}) + "\n")
