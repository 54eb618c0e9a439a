"""Peak memory of the steps that read every window, at the default number of windows and at ten times that.

Run from anywhere: ``python benchmarks/memory.py [windows ...]`` (100 and 1000). It writes its own logits, hidden states
and samples: windows of 200 bytes, 256 logits each. Every step runs in its own process, which reports its peak; the
memory of Python and its packages alone is the same at both sizes.
"""

import json
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "workflow")]

SCORED, PROMPT, V, RANK, WIDTH = 200, 56, 256, 4, 288
LIMIT = 2000  # MB
CONFIG = "config.json"  # the default, with all that it does not state
METRICS = ("tto", "nsmd", "tv", "kl", "entropy_difference")
MODEL: dict[str, Any] = {"model": "model", "rank": RANK, "seed": 1, "published_as": str(RANK), "differs": []}
TRUTH = MODEL | {"model": "truth", "rank": None, "published_as": "NanoGPT 300M"}


class Files(dict):
    """Files of a job by name or by number, as Snakemake passes them to a script."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, key: Any) -> Any:
        return list(self.values())[key] if isinstance(key, int) else super().__getitem__(key)

    def __iter__(self):
        return iter(self.values())


def main(counts: list[int]) -> None:
    """Print a row per step: MB at each number of windows."""
    peaks: dict[str, list[int]] = {}
    seconds: dict[str, float] = {}
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            write_inputs(Path(folder), count)
            for step in steps(Path(folder)):
                start = time.monotonic()
                command = [sys.executable, __file__, "--step", step, folder]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"{step} failed:\n{done.stderr}")
                peaks.setdefault(step, []).append(int(done.stdout.split()[-1]))
                seconds[step] = time.monotonic() - start
                print(f"{count} windows, {step}: {peaks[step][-1]} MB", file=sys.stderr)
    print(f"{'step':36s}" + "".join(f"{f'{count:,} windows':>16s}" for count in counts) + f"{'seconds':>10s}")
    for step, row in peaks.items():
        print(f"{step:36s}" + "".join(f"{f'{peak} MB':>16s}" for peak in row) + f"{seconds[step]:10.0f}")
    highest = max(peak for row in peaks.values() for peak in row)
    print(f"highest: {highest} MB, {'under' if highest < LIMIT else 'NOT UNDER'} {LIMIT} MB")


def write_inputs(folder: Path, count: int) -> None:
    """Write what the steps read: a model of rank 4, its logits and hidden states, a truth's logits, and samples."""
    import numpy as np
    import pyarrow as pa
    import yaml

    from checks.config import check
    from oversmoothing.models.gpt_config import GPTConfig
    from oversmoothing.models.logits import WindowStates, hidden_schema, logits_schema
    from oversmoothing.models.model import GPT
    from oversmoothing.models.weights import save_model
    from oversmoothing.store.parquet import open_writer, write_table
    from plan import studies

    default = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    studies.fill_in(default)
    check(default)
    (folder / CONFIG).write_text(json.dumps(default), encoding="utf-8")
    draw = np.random.default_rng(0)
    config = GPTConfig(layers=1, heads=6, width=WIDTH, block=256, rank=RANK)
    tensors = GPT(config, 0).state_dict()
    tensors["head.weight"] *= 50  # as confident as a trained one
    head = tensors["head.weight"].numpy()
    save_model(folder / "models/model/weights.safetensors", config, tensors, {})
    history = pa.table({"validation_loss": [3.0, 2.0]})
    write_table(folder / "models/model/history.parquet", history, {})
    with (
        open_writer(folder / "logits/model.parquet", logits_schema(V), {}) as logits,
        open_writer(folder / "logits/truth.parquet", logits_schema(V), {}) as truth,
        open_writer(folder / "hidden/model.parquet", hidden_schema(WIDTH, RANK), {}) as hidden,
    ):
        for window in range(count):
            target = draw.integers(0, V, SCORED).astype(np.int32)
            pre = draw.normal(size=(SCORED, WIDTH)).astype(np.float32)
            post = pre[:, :RANK] - pre[:, :RANK].mean(axis=1, keepdims=True)
            post = np.ascontiguousarray(post / post.std(axis=1, keepdims=True))
            own = WindowStates(window, target, post @ head.T, pre, post)
            logits.write_batch(own.logits_batch())
            hidden.write_batch(own.hidden_batch())
            other = draw.normal(scale=3, size=(SCORED, V)).astype(np.float32)
            truth.write_batch(WindowStates(window, target, other, pre, post).logits_batch())
    texts = [draw.integers(97, 123, SCORED).astype(np.uint8).tobytes() for _ in range(count)]
    prompts = [text[:PROMPT] for text in texts]
    columns = {"window": pa.array(range(count), pa.int32()), "prompt": prompts}
    write_table(folder / "windows.parquet", pa.table(columns | {"scored": texts}), {})
    samples = pa.table(columns | {"continuation": texts})
    for decoding in default["decodings"]:
        write_table(folder / f"samples/model/{decoding['name']}.parquet", samples, {})


def steps(folder: Path) -> dict[str, tuple[dict, dict, dict]]:
    """Return the files and settings of each step, by script (and measure); later steps read earlier outputs."""
    logits, truth = f"{folder}/logits/model.parquet", f"{folder}/logits/truth.parquet"
    hidden, weights = f"{folder}/hidden/model.parquet", f"{folder}/models/model/weights.safetensors"
    windows, published = f"{folder}/windows.parquet", ROOT / "resources/published"
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    bat, bootstrap, decodings = config["metrics"]["tbat"], config["statistics"], config["decodings"]
    samples = [f"{folder}/samples/model/{entry['name']}.parquet" for entry in decodings]
    rows = {"models": [MODEL], "truths": [TRUTH]}

    def page(name: str, *kinds: str) -> dict[str, str]:
        return {kind: f"{folder}/tables/{name}.{kind}" for kind in kinds or ("csv", "markdown", "latex", "html")}

    return {
        "score": (
            {"model": logits, "truths": [truth]},
            {metric: f"{folder}/scores/{metric}/model.parquet" for metric in METRICS},
            {"settings": {"tau": 0.9, "decodings": decodings, "truths": ["truth"]}, "device": "cpu"},
        ),
        "measure:tbat": (
            {"weights": weights, "logits": logits},
            {"scores": f"{folder}/scores/tbat/model.parquet"},
            {"settings": bat | {"decodings": decodings[:1]}, "measure": "tbat"},
        ),
        "measure:tbat_approximation": (
            {"weights": weights, "logits": logits},
            {"scores": f"{folder}/scores/tbat_approximation/model.parquet"},
            {"settings": bat | {"approximations": []}, "measure": "tbat_approximation"},
        ),
        "head_logits": (
            {"hidden": hidden, "weights": weights},
            {"logits": f"{folder}/logits/svd.parquet"},
            {"rank": 2, "states": None},
        ),
        "measure:ranks": (
            {"logits": logits, "hidden": hidden, "weights": weights},
            {"ranks": f"{folder}/ranks/model.parquet"},
            {"settings": config["ranks"], "measure": "ranks"},
        ),
        "score_table": (
            {
                "scores": [f"{folder}/scores/{metric}/model.parquet" for metric in METRICS],
                "published": [published / "table_4_1.csv"],
            },
            page("oversmoothing"),
            {
                "settings": bootstrap
                | rows
                | {"title": "", "across": "decoding", "decodings": [entry["name"] for entry in decodings]}
            },
        ),
        "tbat_approximation_table": (
            {"scores": [f"{folder}/scores/tbat_approximation/model.parquet"]},
            page("tbat_approximation"),
            {"settings": bootstrap | {"models": [MODEL]}},
        ),
        "losses_table": (
            {
                "histories": [f"{folder}/models/model/history.parquet"],
                "logits": [logits, truth],
                "published": published / "table_3_1.csv",
            },
            page("losses"),
            {"settings": bootstrap | {"models": [MODEL, TRUTH], "unit": "byte"}},
        ),
        "samples_table": (
            {"windows": windows, "samples": samples},
            page("samples"),
            {"settings": {"title": "", "show": [0, 1, 2], "models": [MODEL | {"kind": "family"}]}},
        ),
    }


def run_step(step: str, folder: Path) -> None:
    """Run one step in this process and print its peak memory in MB."""
    inputs, outputs, params = steps(folder)[step]
    for path in outputs.values():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    job = SimpleNamespace(
        input=Files(inputs),
        output=Files(outputs),
        params=SimpleNamespace(**params),
        wildcards=SimpleNamespace(model="model"),
        threads=2,
    )
    import_module(step.partition(":")[0]).main(job)
    print(peak_megabytes())


def peak_megabytes() -> int:
    """Return the peak memory of this process; `getrusage` would include the process it was forked from."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 // 10**6


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        run_step(sys.argv[2], Path(sys.argv[3]))
    else:
        main([int(count) for count in sys.argv[1:]] or [100, 1000])
