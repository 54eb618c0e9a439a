"""The config, checked, and what every rule asks of it. No pandas and no torch: each cluster job parses this.

In `params`, what decides a result is a plain value, which Snakemake compares between runs. What decides only where
it is computed (the device, the folder of checkpoints) is a function of `output`, which Snakemake does not compare.
No output is marked `update()`: after a failed job Snakemake would put the old file back, but take it for the new one.
"""

import os
import re
import sys

sys.path[:0] = [workflow.basedir, f"{workflow.basedir}/../scripts"]

import plan
from asked import hold_inputs
from check import check, check_device
from contents import contents
from paths import (
    check_paths,
    check_sources,
    check_text,
    local_shards,
    missing_text,
)
from plan import METRICS, one_of, settings
from planned import begin, fingerprint
from repeated_keys import check_keys
from snakemake.logging import logger

check_keys(workflow.configfiles)
check(config)
begin(config, leads=workflow.is_main_process)
check_paths(config)
for message in missing_text(config):
    logger.warning(
        f"{message}; until it is there, this config can be planned and no more"
    )

RESULTS = config["results"].rstrip("/")
MODELS = plan.models(config)
RETRAINED = plan.retrained(config)
TRUTHS = [truth["name"] for truth in config["truths"]]
ENVIRONMENT = "../../envs/environment.yaml"
GPUS = plan.gpus(config)
SAMPLED = plan.samplings(config)
OWN = [model for model in MODELS.values() if model.kind != "svd" and not model.hub]
FOREIGN = [model for model in MODELS.values() if model.hub]


resource_scopes:
    gpu_job="local",


wildcard_constraints:
    metric="|".join(METRICS),
    model="|".join(map(re.escape, [*MODELS, *RETRAINED])),
