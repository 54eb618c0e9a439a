"""Checks of the config, and what several chapters share. No pandas and no torch: each cluster job parses this.

In `params`, whatever affects a result is a plain value, which Snakemake compares between runs. Whatever affects only
where it is computed (device, folder of checkpoints) is a function of `output`, which Snakemake does not compare.
What a job imports by name (decodings, adapters of truths) is in `by_name`; a job that would import more ends.
No output is marked `update()`: after a failed job Snakemake would restore the old file but treat it as the new one.

`tracking/complete.py` adds what is the same in all chapters: the fingerprint of the code, the environment, the log, and
that tables and figures are made on the machine where Snakemake runs.
"""

import os
import re
import sys

SCRIPTS = os.path.abspath(f"{workflow.basedir}/../scripts")
sys.path[:0] = [workflow.basedir, SCRIPTS]

import plan
from checks.config import check, check_device
from checks.paths import check_models, check_paths, check_sources, check_text, missing_text
from checks.repeated_keys import check_keys
from checks.versions import check_fetched
from checks.versions import other_versions
from oversmoothing.scores.catalogue.decoders import files
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, OF_DISTRIBUTIONS
from oversmoothing.scores.decoding import links, decoding_name
from oversmoothing.tables import story
from plan import settings
from plan.model_types import Checkpoint, Hub, Trained, of_type
from plan.models import names
from plan.resources import per_attempt
from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod
from tracking.checksums import compute_once
from tracking.complete import complete
from tracking.contents import contents
from tracking.planned import begin, fingerprint, fingerprints, import_first, keep
from tracking.planned import text as planned_text

import_first(SCRIPTS, workflow.basedir)
check_keys(workflow.configfiles)
plan.studies.fill_in(config)
check(config)
begin(config, leads=workflow.is_main_process)
check_paths(config)
if workflow.is_main_process:
    check_models(config)
for message in missing_text(config):
    logger.warning(f"{message}; until it is there, only `needs`, `assets` and `so_far` can be made")
# Jobs in environments of conda have the versions of envs/environment.yaml.
if workflow.is_main_process and DeploymentMethod.CONDA not in workflow.deployment_settings.deployment_method:
    for message in other_versions():
        logger.warning(message)

RUN = plan.Run(config)
config["unit"] = RUN.unit  # for the front page of the report, which sees the config and no more
HEAD = RUN.logits.replace(".parquet", ".head.safetensors")
WITH_HEAD = [
    name
    for name in (RUN.own if RUN.over_bytes else [*RUN.own, *RUN.from_hub])
    if RUN.models[name].linear and name not in RUN.capped
]
LEARNERS = dict.fromkeys(name for text in RUN.texts.values() for name in text.models)  # of texts of studies
OF_ALL_MODELS = [folder for folder, text in RUN.texts.items() if not text.models]  # texts that those of the run read
OF_TRUNK = RUN.on_any_text(RUN.trunk)
TBAT = config["metrics"]["tbat"]
PURE = {"name": "pure"}
EXTRA = {decoding_name(entry): entry for entry in config["samples"]["decodings"]}

ON_GPU = {"gpu": RUN.gpus, "gpu_job": RUN.gpus}
DEVICE = lambda wildcards, output: config["device"]
ADAPTERS = "oversmoothing/models/truths/load.py"  # of models from the hub, with its imports
STATES = plan.tokens.states(config)


def step(name):
    """Path of a script, which may be in a folder of `studies/`; absolute, so that other folders can reuse its rule."""
    return f"{workflow.basedir if name.startswith('studies/') else SCRIPTS}/{name}"


def one_of(names):
    """Wildcard constraint that matches only these names, which may be empty, or nothing if there are none."""
    return f"(?:{'|'.join(map(re.escape, known))})" if (known := list(names)) else "(?!)"


def decoding_code(decodings, *more):
    """Code of decodings and of further files, for the parameter `by_name` of what decodes."""
    return fingerprints(*files(link for entry in decodings for link in links(entry)), *more)


def measured(name, decodings=()):
    """Parameters of `measure.py`: the name of a measure, and its code and that of decodings."""
    return {"measure": name, "by_name": decoding_code(decodings, f"oversmoothing/measures/entries/{name}.py")}


def sampling_code(decodings, wildcards):
    """Code of decodings, and of the adapter of a model from the hub."""
    return decoding_code(decodings, *([ADAPTERS] if is_from_hub(wildcards) else []))


def text_of(wildcards):
    """The text of a job: the main one, or one of a study."""
    return RUN.texts[wildcards.get("text", "")]


def model_of(wildcards):
    """The model of a job: one that learns its text, or one of this run."""
    return text_of(wildcards).models.get(wildcards.model) or RUN.known[wildcards.model]


def source_of(wildcards):
    """The model of a job, or the one from whose head its own was made."""
    model = model_of(wildcards)
    return model if model.original == model.name else RUN.known[model.original]


def is_from_hub(wildcards):
    """Whether the model of a job, or the one from whose head its own was made, is from the hub."""
    return isinstance(source_of(wildcards), Hub)


def chosen_rate(wildcards):
    """File of the learning rate chosen for the model of a job, if the config lets one be chosen."""
    return plan.models.learning_rate_file(config, model_of(wildcards)) or []


def trunk_of(wildcards):
    """The training that the model of a job branches off, if it does."""
    return RUN.trunks[wildcards.get("text", "")].get(wildcards.model)


def states_of_trunk(wildcards):
    """The folder of the states from one of which the training of a job goes on, if it does."""
    trunk = trunk_of(wildcards)
    return f"{OF_TRUNK}/states".format(text=wildcards.get("text", ""), model=trunk.name) if trunk else []


def corpus_files(wildcards):
    """Files from which the corpus is built; without the text, a dry run is refused as a run is."""
    if workflow.dryrun:
        check_text(config)
    return [RUN.fetched_corpus] if plan.corpus.is_fetched(config) else ancient(RUN.user_text)


def head_beside(logits):
    """File of the head from which logits over tokens are rebuilt; none of bytes, whose logits are stored."""
    return logits.replace(".parquet", ".head.safetensors") if STATES else []


def head_of(wildcards):
    """File of the head of a model, or of the model whose head was truncated.

    That is its weights, or for a model from the hub the head beside its states, or the head that a study made.
    """
    if wildcards.model in RUN.of_studies:
        return RUN.heads.format(model=wildcards.model)
    return (HEAD if is_from_hub(wildcards) else text_of(wildcards).weights).format(model=source_of(wildcards).name)


def truths_of(wildcards):
    """Files of the logits of the truths that the model of a job is held against, by name."""
    return RUN.truths_of(wildcards.model, wildcards.get("text", ""))


resource_scopes:
    gpu_job="local",


wildcard_constraints:
    metric=one_of(OF_DISTRIBUTIONS),
    model=one_of([*RUN.known, *LEARNERS]),
    text=one_of(RUN.texts),
