"""The heads made on trunks trained here, what it takes to make them, and the rows of the table of all ways."""

from collections.abc import Iterator, Mapping
from typing import Any

from oversmoothing.models.gpt_shape import flops_per_byte, head_input, vocabulary
from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from plan.arms import Arm
from plan.model_types import DerivedHead, Model
from plan.models import by_name, derived, full_models, model_rows
from plan.run import Run
from plan.settings import settings
from plan.studies import Study, arms
from plan.table import Shown, Table

HEADS = {  # on the trunk of the full model, by `retrained.norm`
    "none": Arm("retrained", "ab{rank}", rank="rank", tested=True),
    "after": Arm("normed", "ln{rank}", rank="rank"),
}
# Of `retrained.square`, on the trunk behind the head of that rank: the full model's, or that of a plain head.
FULL_HEAD = Arm("full_head", "full{rank}", rank="rank")
OWN_TRUNK = Arm("own_trunk", "own{rank}", rank="rank")


def models(config: Mapping[str, Any]) -> dict[str, DerivedHead]:
    """Return heads retrained on the trunks of each seed, by name; ranks above the full model's impose nothing."""
    known = by_name(config)
    full = full_models(known.values())
    chosen = config["retrained"]
    heads: list[DerivedHead] = []
    for seed in (seed for seed in config["seeds"] if seed in full):
        ranks = [rank for rank in chosen["ranks"] if rank <= (known[full[seed]].rank or 0)]
        for norm in chosen["norm"]:
            heads += [derived(HEADS[norm], rank, seed, full[seed], str(rank)) for rank in ranks]
        trunks = _plain(known, seed) if chosen["square"] else {}
        if closed := [rank for rank in ranks if rank in trunks]:
            heads.append(derived(FULL_HEAD, known[full[seed]].rank, seed, full[seed]))
            heads += [derived(arm, rank, seed, trunks[rank]) for rank in closed for arm in (FULL_HEAD, OWN_TRUNK)]
    return {head.name: head for head in heads}


def closes_a_square(config: Mapping[str, Any]) -> bool:
    """Return whether the heads of all four cells are retrained at some rank."""
    kinds = {head.kind for head in models(config).values()}
    return {"retrained", FULL_HEAD.kind, OWN_TRUNK.kind} <= kinds


def _plain(known: Mapping[str, Model], seed: int) -> dict[int | None, str]:
    return {model.rank: model.name for model in known.values() if (model.kind, model.seed) == ("plain", seed)}


def mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield messages about a square that cannot be closed."""
    if config["retrained"]["square"] and not closes_a_square(config):
        yield (
            "retrained.square: takes `none` in `retrained.norm`, and a rank of `retrained.ranks` that a member of the "
            "family with `head: plain` has; add them, or say false"
        )


def head_settings(config: Mapping[str, Any], head: DerivedHead) -> dict[str, Any]:
    """Return settings of a retrained head.

    The head reads what enters a plain head's bottleneck, or the full model's head.
    """
    return settings(
        rank=None if head.kind == FULL_HEAD.kind else head.rank,
        norm="after" if head.kind == HEADS["after"].kind else "none",
        reads="pre" if by_name(config)[head.source].kind == "plain" else "post",
        **retraining(config),
    )


def retraining(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of how any head is retrained.

    They are those of the section `retrained` that count, precision and threads.
    """
    of_the_other = ("sequences",) if config["retrained"]["sequences"] is None else ("learning_rate", "warmup_steps")
    dropped = ("ranks", "norm", "square", *of_the_other)
    chosen = {key: value for key, value in config["retrained"].items() if key not in dropped}
    return chosen | {key: config["training"][key] for key in ("precision", "threads")}


def rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the table, for models of known rank: ``model``, ``kind``, ``rank``, ``seed``.

    Models that are narrow throughout are left out: their rank is not imposed on the head.
    """
    kinds = dict.fromkeys(arm.kind for arm in arms(config))
    known = by_name(config) | models(config)
    full = full_models(known.values())
    return [
        row
        for row in model_rows(known, *kinds)
        if None not in (row["rank"], row["seed"])
        and not _narrower(known[row["model"]].shape, known[full[row["seed"]]].shape if row["seed"] in full else None)
    ]


def _narrower(shape: Mapping[str, Any] | None, full: Mapping[str, Any] | None) -> bool:
    return shape is not None and full is not None and shape["width"] < full["width"]


def tables(run: Run) -> Iterator[Table]:
    """Yield the table of all ways and its figure."""
    if imposed := rows(run.config):
        names = [row["model"] for row in imposed]
        yield Table(
            "imposed_rank_table",
            "show.py",
            {"logits": run.of(run.logits, names), "scores": run.scores(AGAINST_TRUTHS, names)},
            settings(unit=run.unit, **run.config["statistics"], models=imposed, truth=run.truths[0]),
            table=Shown("imposed_rank", "8 Small models", "Ways to impose a rank: the numbers"),
            figure=Shown("imposed_rank", "8 Small models", "Ways to impose a rank"),
        )


def retraining_flops(shape: Mapping[str, Any], head: Mapping[str, Any]) -> int:
    """Return the number of operations of retraining a head, evaluations included.

    They are 6 for a weight, on a model that runs only forward.
    """
    evaluations = -(-head["max_steps"] // head["evaluation_interval"]) + 1
    read = shape["width"] if head["reads"] == "pre" else head_input(shape)
    weights = head["rank"] * (vocabulary(shape) + read) if head["rank"] else vocabulary(shape) * read
    held_out = evaluations * head["evaluation_batches"] * head["batch"]
    whole = head.get("sequences")  # which the model runs over once, and the head at each iteration
    models, heads = (whole, head["max_steps"] * whole) if whole else (head["max_steps"] * head["batch"],) * 2
    operations = (models + held_out) * (flops_per_byte(shape) // 3) + (heads + held_out) * 6 * weights
    return operations * shape["block"]


def work(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the number of heads to retrain, and the operations that it takes."""
    known = by_name(config)
    heads = models(config).values()
    total = sum(retraining_flops(known[head.source].shape or {}, head_settings(config, head)) for head in heads)
    return [{"what": "heads that are retrained on a frozen model", "count": len(heads), "operations": total}]


STUDY = Study(
    mistakes=mistakes,
    models=models,
    arms=(*HEADS.values(), FULL_HEAD, OWN_TRUNK),
    work=work,
    tables=tables,
    tested={"imposed_rank": ()},
)
