"""`snakemake --profile slurm` on a real SLURM: what a local run gives, whatever happens to the jobs on the way."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
import yaml
from cluster import Cluster, missing
from study import ROOT, copy_project

from oversmoothing.models.gpt_config import GPTConfig
from oversmoothing.models.model import GPT
from oversmoothing.models.weights import load_tensors
from oversmoothing.training.checkpoint import Checkpoints
from oversmoothing.training.loop import train

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(bool(missing()), reason=f"no SLURM here: {missing()}")]

# Trainings last long enough, on any machine, to be disturbed: the family and, for SLURM looks at limits only twice a
# minute, the truth.
SECONDS = {"family": 20, "truth": 50}
FAMILY = ["bn4-s1337", "bn16-s1337"]
MINUTES = 30  # at most, on a machine with much else to do


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = copy_project(tmp_path_factory.mktemp("study"))
    speed = steps_per_second(tmp_path_factory.mktemp("speed"))
    steps = {kind: round(seconds * speed) for kind, seconds in SECONDS.items()}
    config = yaml.safe_load((study.folder / "tests/config/tiny.yaml").read_text())
    config["truths"][0]["training"] = {"max_steps": steps["truth"]}
    config["training"] |= {"max_steps": steps["family"], "evaluation_interval": 500, "patience": 10**6}
    for name in ("cluster", "local", "cuda"):
        config |= {"results": name, "checkpoints": {"folder": f"{name}_checkpoints", "interval": 50}}
        (study.folder / f"{name}.yaml").write_text(yaml.safe_dump(config))
    return study


def steps_per_second(folder):
    """Measure how fast this machine trains a model of the tiny config when nothing disturbs it."""
    settings = yaml.safe_load((ROOT / "config/config.yaml").read_text())["training"]
    settings |= {"max_steps": 100, "evaluation_interval": 100, "evaluation_batches": 1, "snapshots": False}
    text = np.random.default_rng(0).integers(0, 256, 10000, dtype=np.uint8)
    torch.set_num_threads(1)
    times = []
    for i in range(6):
        model = GPT(GPTConfig(layers=1, heads=2, width=16, block=32, rank=4, dropout=0.0), 1)
        checkpoints = Checkpoints(folder / str(i), "speed", interval=50)
        began = time.perf_counter()
        with checkpoints.lock():
            train(model, text, text, settings, 1, "float32", checkpoints)
        times.append(time.perf_counter() - began)
    return 100 / min(times)


def start(cluster, study, *options, config="cluster.yaml", targets=("cluster/tables/oversmoothing.csv",)):
    """Start Snakemake under the profile as it is shipped; return the process and the file of its output."""
    path = study.folder / "snakemake.out"
    command = [sys.executable, "-m", "snakemake", "--profile", "slurm", "--configfile", config, *options]
    environment = {key: value for key, value in cluster.environment.items() if not key.startswith("PYTEST")}
    with path.open("w") as out:
        process = subprocess.Popen(
            [*command, "--", *targets], cwd=study.folder, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    return process, path


def training(cluster, study, model, rule="train"):
    """Wait until a model's training has run long enough to have saved something; return its SLURM job."""
    limit = time.monotonic() + 60 * MINUTES
    while True:
        job = cluster.job(f"rule_{rule}_wildcards__{model}")
        if job and list(study.folder.glob(f"cluster_checkpoints/{model}-*/resume.safetensors")):
            return job
        assert time.monotonic() < limit, f"{model} never ran"
        time.sleep(0.2)


def test_the_table_is_that_of_a_local_run_whatever_happens_to_the_jobs(cluster, study):
    """One training is cancelled, one loses its node, one exceeds its time; a scoring job exceeds its memory."""
    process, path = start(
        cluster,
        study,
        *("--config", "device=cpu"),  # there is no GPU here; the jobs ask for one all the same
        *("--set-resources", "train:gpu=1", "train_truth:gpu=1", "score:mem_mb=150*attempt**2"),
        *("--latency-wait", "10", "--slurm-init-seconds-before-status-checks", "2"),
    )
    try:
        late = training(cluster, study, "truth", rule="train_truth")
        cluster.run("scontrol", "update", f"JobId={late['JobId']}", f"TimeLimit={2 + minutes(late['RunTime'])}")
        jobs = {model: training(cluster, study, model) for model in FAMILY}
        # a node has two GPUs: at least one of the family is not on the truth's
        unlucky = next(model for model, job in jobs.items() if job["NodeList"] != late["NodeList"])
        lost, cancelled = jobs.pop(unlucky), *jobs.values()
        cluster.run("scancel", cancelled["JobId"])
        cluster.cut_power(lost["NodeList"])
        nodes = cluster.run("sinfo")
        cluster.wait_until_requeued(lost["JobId"])
        cluster.start_node(lost["NodeList"])
        process.wait(60 * MINUTES)
    finally:
        process.kill()
    output = path.read_text()
    assert process.returncode == 0, output[-5000:]

    jobs = cluster.jobs()
    by_id = {job["JobId"]: job for job in jobs}
    by_comment = {}
    for job in jobs:
        by_comment.setdefault(job["Comment"], []).append(job)

    # each failure happened,
    assert by_id[cancelled["JobId"]]["JobState"] == "CANCELLED"
    assert re.search(rf"down\*? +{lost['NodeList']}", nodes)
    assert int(by_id[lost["JobId"]]["Restarts"]) >= 1
    log = (study.folder / f".snakemake/slurm_logs/rule_train_truth/_truth/{late['JobId']}.log").read_text()
    stopped = re.search(r"Error: truth: stopped by SIGTERM at step (\d+); the state is saved, run again to go on", log)
    assert by_id[late["JobId"]]["JobState"] in ("FAILED", "TIMEOUT")
    assert stopped, log
    scores = by_comment["rule_score_wildcards__bn4-s1337"]
    assert scores[0]["JobState"] in ("FAILED", "OUT_OF_MEMORY")

    # and each was recovered: trainings went on from where they were, and asked for more memory
    for model, least in (("bn4-s1337", 50), ("bn16-s1337", 50), ("truth", int(stopped[1]))):
        log = (study.folder / f"cluster/logs/train/{model}.log").read_text()
        assert int(re.search(r"resuming at step (\d+)", log)[1]) >= least, model
    first, second = by_comment[cancelled["Comment"]][:2]
    assert memory(second) == 1.5 * memory(first) == 4500
    assert scores[-1]["JobState"] == "COMPLETED"

    # GPUs are asked for by what uses one, and nothing else is on their nodes
    for job in jobs:
        trains = job["Comment"].startswith("rule_train")
        assert job["Partition"] == ("gpu" if trains else "cpu")
        assert job.get("TresPerJob") == ("gres:gpu:1" if trains else None)

    table, local_table = (study.folder / name / "tables/oversmoothing.csv" for name in ("cluster", "local"))
    study.snakemake(str(local_table.relative_to(study.folder)), config="local.yaml")
    assert table.read_bytes() == local_table.read_bytes()
    for model in (*FAMILY, "truth"):
        one, other = (
            load_tensors(study.folder / name / f"models/{model}/weights.safetensors")[0]
            for name in ("cluster", "local")
        )
        assert all((one[name] == other[name]).all() for name in one), model


def test_gpu_jobs_are_submitted_side_by_side_and_say_where_a_node_has_no_gpu(cluster, study):
    """As shipped, the profile asks for GPUs; this node's are fakes."""
    targets = [f"cuda/models/{model}/weights.safetensors" for model in ("bn4-s1337", "bn16-s1337")]
    process, _ = start(cluster, study, "--retries", "0", config="cuda.yaml", targets=targets)
    assert process.wait(60 * MINUTES) == 1
    one, other = [job for job in cluster.jobs() if job["Comment"].startswith("rule_train_")][-2:]
    for job in (one, other):
        assert (job["Partition"], job["TresPerJob"]) == ("gpu", "gres:gpu:1")
        model = job["Comment"].rpartition("_")[2]
        log = study.folder / f".snakemake/slurm_logs/rule_train/_{model}/{job['JobId']}.log"
        assert "device: cuda is set in the config, but PyTorch sees no GPU here" in log.read_text()
    assert other["SubmitTime"] < one["EndTime"]


def minutes(clock):
    """Round a time up to whole minutes."""
    hours, minutes, seconds = map(int, clock.split(":"))
    return 60 * hours + minutes + (seconds > 0)


def memory(job):
    """Return what a job asked for in MB."""
    number, unit = re.fullmatch(r"([\d.]+)([MG])", job["MinMemoryNode"]).groups()
    return float(number) * {"M": 1, "G": 1024}[unit]
