"""What holds in all tests, and projects to run the real workflow in."""

import os
import shutil
from collections import Counter
from itertools import accumulate

import hypothesis
import pytest
import torch
from filelock import FileLock
from recipes import MINE, follow
from study import MODELS, ROOT, TABLE, TINY, Study, copy_built, copy_project

from oversmoothing.fingerprint import FOLDERS
from plan.studies import FOLDER

torch.set_num_threads(1)
os.environ[FOLDERS] = str(FOLDER.parent)  # the studies, as a plan says
hypothesis.settings.register_profile("patient", deadline=None)  # a busy machine is no error
hypothesis.settings.load_profile("patient")


@pytest.fixture(autouse=True)
def one_thread():
    """Leave PyTorch at one thread, whatever a test has set: with more, sums differ in their last bits."""
    yield
    torch.set_num_threads(1)


def pytest_collection_modifyitems(items):
    """Spread the long files, those of the workflow, among the others: progress is even, and the last ones are short.

    One comes first and builds the project of `everything`; the others that need it come last of the long ones.
    """
    sizes = Counter(item.path for item in items)
    needing = dict.fromkeys(item.path for item in items if "everything" in item.fixturenames)
    long = [path for path in sizes if "workflow" in path.parts or path.stem.endswith("_dag")]
    long.sort(key=lambda path: path in needing)
    place = {path: (0.2 + 0.6 * i / len(long)) * len(items) for i, path in enumerate(long)}
    short = [path for path in sizes if path not in place]
    place |= zip(short, accumulate(map(sizes.get, short), initial=0), strict=False)
    place[next(iter(needing), None)] = -1
    items.sort(key=lambda item: place[item.path])


@pytest.fixture(scope="session")
def once(tmp_path_factory, worker_id):
    """Build a project in a folder of that name, once for all processes that run the tests; return the folder."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent

    def build_once(name, build):
        folder, built = shared / name, shared / f"{name}.built"
        with FileLock(shared / f"{name}.lock"):
            if not built.exists():
                shutil.rmtree(folder, ignore_errors=True)
                build(folder)
                built.touch()
        return folder

    return build_once


@pytest.fixture(scope="session")
def built(once):
    """Folder of a project whose main table has been built, and the list of its models."""
    return once("built", lambda folder: copy_project(folder).snakemake(TABLE, MODELS))


@pytest.fixture(scope="session")
def study(built, tmp_path_factory):
    """A project whose main table has been built; tests leave it as they found it."""
    return copy_built(built, tmp_path_factory.mktemp("study") / "study")


@pytest.fixture
def copy(study, tmp_path):
    """A built project that a test may spoil."""
    return copy_built(study.folder, tmp_path / "copy")


@pytest.fixture(scope="session")
def everything(once, built):
    """A project after the recipes of CONTRIBUTING.md, with all its tables and figures and its report; only to read."""
    return Study(once("everything", lambda folder: follow(folder, built)))


@pytest.fixture
def tiny(tmp_path):
    """Write the tiny config with some of its text replaced and with more behind it; return its path."""

    def write(*replaced, more="", name="changed.yaml"):
        text = (ROOT / TINY).read_text()
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / name).write_text(text + more)
        return str(tmp_path / name)

    return write


@pytest.fixture
def planned(everything, tiny):
    """Plan the project in which all is built, under the tiny config with some of its text replaced."""

    def plan(targets, *replaced):
        targets = [targets] if isinstance(targets, str) else targets
        return everything.planned(*targets, config=(tiny(*replaced), MINE))

    return plan
