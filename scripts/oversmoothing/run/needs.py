"""Floating-point operations, GPU hours, disk space and memory of a study, from its config alone."""

from collections.abc import Iterable, Mapping
from typing import Any

from oversmoothing.models.gpt_shape import (
    FLOAT32,
    VOCABULARY,
    checkpoint_bytes,
    flops_per_byte,
    gpu_bytes,
    hidden_bytes,
    matrices,
    weight_bytes,
)
from oversmoothing.scores.catalogue.metrics import OF_DISTRIBUTIONS

# TFLOP/s of one core, as measured in training the members of the quick default (benchmarks/training_speed.py).
CORES = {"AVX2": 0.067, "matrix units for bf16 (AMX)": 0.21}
TFLOPS = (20, 50, 100, 200)  # rates that a GPU may reach in training, well below its peak


def trained_bytes(settings: Mapping[str, Any], taken: int = 0) -> int:
    """Return how many bytes a training reads if it takes `max_steps` steps, of which others took the first `taken`."""
    training = settings["training"]
    return (training["max_steps"] - taken) * training["batch"] * training["accumulation"] * settings["model"]["block"]


def training_flops(settings: Mapping[str, Any], taken: int = 0) -> int:
    """Return the number of operations of a training and its evaluations, as `trained_bytes` counts its steps."""
    training = settings["training"]
    evaluations = (training["max_steps"] - taken) // training["evaluation_interval"] + 1
    evaluated = evaluations * training["evaluation_batches"] * training["batch"] * settings["model"]["block"]
    return flops_per_byte(settings["model"]) * (3 * trained_bytes(settings, taken) + evaluated) // 3


def disk_bytes(study: Mapping[str, Any]) -> dict[str, int]:
    """Return the disk space of a study in bytes before compression, by category, if one training runs at a time."""
    trained = _trained(study).values()
    shapes = [settings["model"] for settings in trained]
    sizes = [weight_bytes(shape) for shape in shapes]
    snapshots = 0
    for size, settings in zip(sizes, trained, strict=True):  # `training.loop.snapshot_steps`; powers of two count twice
        last, kept = settings["training"]["max_steps"], settings["training"]["snapshots"]
        snapshots += size * (1 + last.bit_length() + (0 if kept is True else last // kept)) if kept else 0
    run = [model for model in study["models"] if model["kind"] != "trial"]
    models, truths = len(run) + sum(part["count"] for part in study["further"]), len(study["truths"])
    states = sum(hidden_bytes(model["settings"]["model"]) for model in run if model["settings"])
    return {
        "from the hub": sum(study["fetched"].values()),
        "models converted to float32": study["converted"],
        "corpus": study["corpus"],
        "weights": sum(sizes),
        "snapshots along training": snapshots,
        # Each training keeps its best weights until the run ends; one checkpoint replaces another.
        "checkpoints under way": sum(sizes) + 2 * max(map(checkpoint_bytes, shapes), default=0),
        "logits and hidden states": study["positions"] * (models * FLOAT32 * VOCABULARY + states),
        "scores": FLOAT32 * len(OF_DISTRIBUTIONS) * study["positions"] * models * study["decodings"] * truths,
    }


def summary(study: Mapping[str, Any]) -> dict[str, str]:
    """Return the row of the table in `docs/scales.md`, by column name (study as in `report`)."""
    trained, total = _trained(study).values(), _operations(study)
    return {
        "trainings": str(len(trained)),
        "operations": f"{total:.1e}",
        **{f"GPU hours at {rate} TFLOP/s": _hours(total, rate) for rate in (TFLOPS[1], TFLOPS[-1])},
        "GPU memory": f"{max(map(_gpu_bytes, trained), default=0) / 1e9:.0f} GB",
        "job memory": f"{study['memory'] / 1000:.0f} GB",
        "fetched": f"{sum(study['fetched'].values()) / 1e9:.1f} GB",
        "disk": f"{sum(disk_bytes(study).values()) / 1e9:.0f} GB",
    }


def report(study: Mapping[str, Any]) -> str:
    """Return the needs of a study, as `plan.needs.study` describes it, in Markdown."""
    trained, total = _trained(study), _operations(study)
    parts = [
        f"{len(trained)} trainings, {total:.1e} operations if each runs to its limit of steps "
        "(`training.patience` stops them sooner):"
    ]
    if trained:
        costs = [
            {
                "model": name,
                "million weights": f"{matrices(settings['model']) / 1e6:.1f}",
                "operations per byte": f"{flops_per_byte(settings['model']):.1e}",
                "GB of text": f"{trained_bytes(settings) / 1e9:.3g}",
                "operations": f"{training_flops(settings):.1e}",
            }
            for name, settings in trained.items()
        ]
        parts.append(_table(costs))
    for part in study["further"]:
        if part["count"]:
            parts.append(f"Among the operations: {part['operations']:.1e} of {part['count']} {part['what']}.")
    if trained:
        first, settings = next(iter(trained.items()))
        speeds = {rate: rate * 1e12 / flops_per_byte(settings["model"]) for rate in TFLOPS}
        rates = [
            {"TFLOP/s": f"{rate}", f"bytes/s of {first}": f"{speed:,.0f}", "GPU hours at most": _hours(total, rate)}
            for rate, speed in speeds.items()
        ]
        parts += ["GPU hours of training, by what the GPU achieves:", _table(rates)]
        cores = [
            {"core with": kind, "TFLOP/s": f"{rate:g}", "processor minutes at most": _minutes(total, rate)}
            for kind, rate in CORES.items()
        ]
        assumed = "if a core does as on two machines on which small trainings were timed; a larger model may reach more"
        parts += [f"Without a GPU, processor minutes of training, {assumed}:", _table(cores)]
        largest = max(trained, key=lambda name: _gpu_bytes(trained[name]))
        parts.append(
            f"Memory: {study['memory'] / 1000:.0f} GB for the largest job; on the GPU about "
            f"{_gpu_bytes(trained[largest]) / 1e9:.0f} GB to train {largest} "
            "(a smaller `training.batch` and a larger `training.accumulation` lower that)."
        )
    kind, rate = next(iter(CORES.items()))
    for view in study["byte_views"]:
        takes = "as many operations as its weights ask for, which `snakemake assets` lists"
        if (count := view["operations"]) is not None:
            takes = f"{count:.1e} operations, processor minutes of a core with {kind}: {_minutes(count, rate)}"
        parts.append(f"Byte view {view['name']}: {takes}.")
    disk = disk_bytes(study)
    disk["all"] = sum(disk.values())
    parts += ["Disk, before compression:", _table({"for": of, "GB": f"{size / 1e9:.2f}"} for of, size in disk.items())]
    if study["fetched"]:
        sizes = {name: f"{size / 1e9:.2f} GB" if size else "of unknown size" for name, size in study["fetched"].items()}
        parts.append(f"Fetched by `snakemake assets`: {', '.join(f'{name} {size}' for name, size in sizes.items())}.")
    return "\n\n".join(parts)


def _trained(study: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of each training by the name of its model."""
    return {model["name"]: model["settings"] for model in study["models"] if model["settings"]}


def _gpu_bytes(settings: Mapping[str, Any]) -> int:
    return gpu_bytes(settings["model"], settings["training"]["batch"])


def _table(rows: Iterable[Mapping[str, str]]) -> str:
    from oversmoothing.tables.formats import markdown_table  # with SciPy, which a plan does not need
    from oversmoothing.tables.page import Section

    return markdown_table(Section("", list(rows)))


def _operations(study: Mapping[str, Any]) -> int:
    """Return the operations of all trainings, and of what is made from them."""
    return sum(map(training_flops, _trained(study).values())) + sum(part["operations"] for part in study["further"])


def _minutes(operations: float, rate: float) -> str:
    minutes = operations / rate / 6e13
    return f"{minutes:,.0f}" if minutes >= 1 else "less than 1"


def _hours(operations: float, rate: int) -> str:
    hours = operations / rate / 3.6e15
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.1f}" if hours >= 0.1 else "less than 0.1"
