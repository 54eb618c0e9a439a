"""Expected seconds of each job, as far as the config tells them: what the bars of a run are weighted by."""

from collections.abc import Mapping
from typing import Any

from oversmoothing.run.needs import CORES, TFLOPS, training_flops
from oversmoothing.training.schedule import decay_begins
from plan.model_types import ByBytes
from plan.models import by_name
from plan.resources import byte_view_operations, gpus

START = 5.0  # seconds that any job takes: Python and its imports
# Further seconds by rule, as the quick default took on two cores; of all other rules MORE.
TOOK = {"build_corpus": 60.0, "tbat": 30.0, "retrain_head": 60.0, "fetch": 60.0, "byte_logits": 600.0, "sample": 15.0}
MORE = 5.0


def seconds(config: Mapping[str, Any], job: Any) -> float:
    """Return seconds of one processor that a job of Snakemake takes.

    Of a training and a byte view they follow from its operations.
    """
    settings, rule = job.params.get("settings"), job.rule.name
    rate = 1e12 * (TFLOPS[0] if gpus(config) else next(iter(CORES.values())))
    operations: float | None = None
    if isinstance(settings, Mapping) and {"model", "training"} <= settings.keys():
        taken = decay_begins(settings["training"]) if job.input.get("start") else 0  # by its trunk
        operations = training_flops(settings, taken)
    elif rule == "byte_logits" and isinstance(view := by_name(config)[job.wildcards.model], ByBytes):
        operations = byte_view_operations(config, view)
    return START + (TOOK.get(rule, MORE) if operations is None else operations / rate)
