"""The config, checked, and what every rule asks of it. No pandas and no torch: each cluster job parses this."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, workflow.basedir)

import plan
from fingerprint import fingerprint
from plan import METRICS

try:
    plan.check(config)
except plan.ConfigError as error:
    raise WorkflowError(f"config: {error}") from None

RESULTS = config["results"].rstrip("/")
MODELS = plan.models(config)
TRUTHS = [truth["name"] for truth in config["truths"]]
ENVIRONMENT = "../../envs/environment.yaml"
WANTS_GPU = int(config["device"] == "cuda" or (config["device"] == "auto" and Path("/dev/nvidia0").exists()))


resource_scopes:
    gpu="local",


wildcard_constraints:
    metric="|".join(METRICS),
    model="|".join(map(re.escape, MODELS)),


def names(*kinds):
    """Name the models of these kinds, in the config's order."""
    return [model.name for model in MODELS.values() if model.kind in kinds]


def one_of(models):
    """Give a wildcard constraint that fits exactly these names, and nothing if there are none."""
    return "|".join(re.escape(model.name) for model in models) or "(?!)"


def settings(**values):
    """Give what a rule depends on as one plain dict with sorted keys, which is what Snakemake can compare."""
    return plan.plain(values)
