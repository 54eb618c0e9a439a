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
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS, OF_DISTRIBUTIONS
from oversmoothing.scores.decoding import links, decoding_name
from oversmoothing.tables import story
from plan import settings
from plan.arms import KINDS_OF_FAMILY
from plan.model_types import ByBytes, Checkpoint, Hub, Trained, of_type
from plan.models import model_rows, names
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

RESULTS = config["results"].rstrip("/")
PUBLISHED = os.path.relpath(f"{workflow.basedir}/../resources/published")
CORPUS = {split: f"{RESULTS}/corpus/{split}.bin" for split in ("train", "validation", "evaluation")}
MANIFEST = f"{RESULTS}/corpus/manifest.json"
TEXT = plan.corpus.user_files(config)
OVER_BYTES = plan.tokens.over_bytes(config)
UNIT = plan.tokens.unit(config)
config["unit"] = UNIT  # for the front page of the report, which sees the config and no more
TOKENS = plan.tokens.files(config, RESULTS)
VOCABULARY = TOKENS["vocabulary"]
READ = plan.tokens.read_by_models(config, RESULTS)  # splits, as models read them
WINDOWS = f"{RESULTS}/windows.parquet"
WEIGHTS = f"{RESULTS}/models/{{model}}/weights.safetensors"
HEADS = f"{RESULTS}/heads/{{model}}/weights.safetensors"  # of models that studies add
HISTORY = f"{RESULTS}/models/{{model}}/history.parquet"
LOGITS = f"{RESULTS}/logits/{{model}}.parquet"
HEAD = f"{RESULTS}/logits/{{model}}.head.safetensors"
HIDDEN = f"{RESULTS}/hidden/{{model}}.parquet"
WINDOW_MEANS = f"{RESULTS}/tables/window_means.parquet"
SAMPLES = f"{RESULTS}/samples/{{model}}/{{decoding}}.parquet"
FETCHED_CORPUS = f"{RESULTS}/fetched/corpus.json"  # the shards themselves are shared by the configs
ASSETS_FOLDER = config["assets"].rstrip("/")
MANIFEST_OF = f"{ASSETS_FOLDER}/{{asset}}.json"

MODELS = plan.models.by_name(config)
OF_STUDIES = plan.studies.models(config)
REPLICATED = plan.models.replicated(config)
TRIALS = plan.models.trials(config)
TRIED = plan.models.tried(TRIALS)
TRAININGS = MODELS | TRIALS
BY_TEXT = {None: TRAININGS} | plan.studies.joined(config, "learners")  # the corpus, and texts of studies
PREDICTORS = [model for model in MODELS.values() if model.kind in ("family", "truth")]
OWN = [model.name for model in MODELS.values() if isinstance(model, Trained | Checkpoint)]
TRAINED = [model for model in PREDICTORS if isinstance(model, Trained)]
BYTE_VIEWS = plan.models.byte_views(config, "truth", "family")
FROM_HUB = [model.name for model in of_type(Hub, MODELS)]
TRUNCATED = names(MODELS, "svd")
CAPPED = plan.models.capped(config)
WITH_HEAD = [name for name in (OWN if OVER_BYTES else [*OWN, *FROM_HUB]) if MODELS[name].linear and name not in CAPPED]
FAMILY = names(MODELS, "family")
KNOWN_INSIDE = [name for name in FAMILY if name not in BYTE_VIEWS]  # which have heads, hidden states and samples
LINEAR = [name for name in KNOWN_INSIDE if name not in CAPPED]
TRUTHS = names(MODELS, "truth")
TBAT = config["metrics"]["tbat"]
DECODED = [decoding_name(entry) for entry in config["decodings"]]
PURE = {"name": "pure"}
EXTRA = {decoding_name(entry): entry for entry in config["samples"]["decodings"]}
JUDGED = plan.samples.judged_decodings(config)

GPUS = plan.resources.gpus(config)
ON_GPU = {"gpu": GPUS, "gpu_job": GPUS}
DEVICE = lambda wildcards, output: config["device"]
ADAPTERS = "oversmoothing/models/truths/load.py"  # of models from the hub, with its imports
STATES = plan.tokens.states(config)

TABLES_AND_FIGURES = []  # inputs of `rule all`, in the order of the chapters
STORIES = [*map(story.read_story, plan.studies.stories(config))]  # of the library and of the studies


def step(name):
    """Path of a script; absolute, so that a study can reuse its rule from another folder (`use rule ... with`)."""
    return f"{SCRIPTS}/{name}"


def one_of(names):
    """Wildcard constraint that matches only these names, or nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def scores(metrics, models):
    """Files of the scores of models; capped ones and byte views have no TBAT."""
    path = f"{RESULTS}/scores/{{metric}}/{{model}}.parquet"
    return [
        path.format(metric=metric, model=model)
        for metric in metrics
        for model in models
        if metric != "tbat" or model not in (*CAPPED, *BYTE_VIEWS)
    ]


def decoding_code(decodings, *more):
    """Code of decodings and of further files, for the parameter `by_name` of what decodes."""
    return fingerprints(*files(link for entry in decodings for link in links(entry)), *more)


def measured(name, decodings=()):
    """Parameters of `measure.py`: the name of a measure, and its code and that of decodings."""
    return {"measure": name, "by_name": decoding_code(decodings, f"oversmoothing/measures/entries/{name}.py")}


def sampling_code(decodings, wildcards):
    """Code of decodings, and of the adapter of a model from the hub."""
    return decoding_code(decodings, *([ADAPTERS] if is_from_hub(wildcards) else []))


def model_of(wildcards):
    """The model of a job: one of this run, or of those that learn a text of a study."""
    return BY_TEXT[wildcards.get("text")][wildcards.model]


def source_of(wildcards):
    """The model of a job, or the one whose head was truncated."""
    return MODELS[MODELS[wildcards.model].original]


def is_from_hub(wildcards):
    """Whether the model of a job, or the one whose head was truncated, is from the hub."""
    return isinstance(source_of(wildcards), Hub)


def chosen_rate(wildcards):
    """File of the learning rate chosen for the model of a job, if the config lets one be chosen."""
    return plan.models.learning_rate_file(config, model_of(wildcards)) or []


def corpus_files(wildcards):
    """Files from which the corpus is built; without the text, a dry run is refused as a run is."""
    if workflow.dryrun:
        check_text(config)
    return [FETCHED_CORPUS] if plan.corpus.is_fetched(config) else ancient(TEXT)


def head_beside(logits):
    """File of the head from which logits over tokens are rebuilt; none of bytes, whose logits are stored."""
    return logits.replace(".parquet", ".head.safetensors") if STATES else []


def head_of(wildcards):
    """File of the head of a model, or of the model whose head was truncated.

    That is its weights, or for a model from the hub the head beside its states, or the head that a study made.
    """
    if wildcards.model in OF_STUDIES:
        return HEADS.format(model=wildcards.model)
    return (HEAD if is_from_hub(wildcards) else WEIGHTS).format(model=source_of(wildcards).name)


def published(*tables):
    """Files of the thesis's tables with the given numbers; none for tokens, as its models read bytes."""
    return [f"{PUBLISHED}/table_{table}.csv" for table in tables if OVER_BYTES]


def caption(kind, name):
    """File of the caption of a table or figure in the report, written anew if its story tells something else."""
    path = Path(f".snakemake/captions/{kind}_{name}.rst").resolve()
    if workflow.is_main_process:
        text = story.caption(kind, name, STORIES, unit=UNIT)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return str(path)


def table(name, category, label, latex=True):
    """Outputs of a table's rule, and its caption in the report."""
    path = f"{RESULTS}/tables/{name}"
    TABLES_AND_FIGURES.append(f"{path}.csv")
    shown = report(f"{path}.html", caption=caption("Table", name), category=category, labels={"result": label})
    return {"csv": f"{path}.csv", "markdown": f"{path}.md", "html": shown} | ({"latex": f"{path}.tex"} if latex else {})


def figure(name, category, label):
    """Outputs of a figure's rule, and its caption in the report."""
    path = f"{RESULTS}/figures/{name}"
    TABLES_AND_FIGURES.append(f"{path}.png")
    shown = report(f"{path}.svg", caption=caption("Figure", name), category=category, labels={"result": label})
    return {"png": f"{path}.png", "pdf": f"{path}.pdf", "svg": shown}


def compared_inside(kind):
    """Rows of a table of the models of a kind that have heads, hidden states and samples: all but byte views."""
    return [row for row in plan.thesis.compared(config, kind) if row["model"] not in BYTE_VIEWS]


def truths_of(model):
    """Truths that a model is held against: a truth against all others."""
    return [truth for truth in TRUTHS if truth != model]


def beside_thesis(title, metrics, across="metric", kind="family", **more):
    """Settings of a table of scores: one row per model of a kind, and its columns metrics or decodings."""
    without_heads = plan.models.byte_views(config, "family") if "tbat" in metrics else []
    return settings(
        **config["statistics"],
        title=title,
        across=across,
        decodings=["pure"] if across == "metric" else DECODED,
        models=plan.thesis.compared(config, kind, metrics),
        **({"byte_views": without_heads} if without_heads else {}),
        **{"truths": plan.thesis.compared(config, "truth", metrics)} | more,
    )


def figures_of(prompts, name, category, label):
    """Outputs of a rule that draws a figure of each prompt, the formats of one after those of the other."""
    return [
        path
        for prompt in prompts
        for path in figure(f"{name}_{prompt}", category, f"{label}: the {UNIT} after the prompt {prompt}").values()
    ]


resource_scopes:
    gpu_job="local",


wildcard_constraints:
    metric=one_of(OF_DISTRIBUTIONS),
    model=one_of([*TRAININGS, *OF_STUDIES]),
