"""The heads retrained on the full model, what it takes to make them, and the rows of the table of all ways."""

from collections.abc import Mapping
from typing import Any

from oversmoothing.models.gpt_shape import flops_per_byte, head_input, vocabulary
from plan.arms import Arm
from plan.models import Model, by_name, full_models, model_rows, of_arm
from plan.settings import settings
from plan.studies import Study, arms

HEADS = {  # by `retrained.norm`
    "none": Arm(
        "retrained",
        "ab{rank}",
        "retrained",
        (2, "^", "-."),
        legend="head W = A B retrained, rest frozen",
        rank="rank",
        tested=True,
    ),
    "after": Arm(
        "normed",
        "ln{rank}",
        "retrained with LayerNorm",
        (3, "D", (0, (5, 1))),
        legend="head with LayerNorm retrained, rest frozen",
        rank="rank",
    ),
}


def models(config: Mapping[str, Any]) -> dict[str, Model]:
    """Heads retrained on the full model, one for each seed, kind and rank, by name.

    Ranks above that of the full model are left out, because they would impose nothing.
    """
    known = by_name(config)
    full = full_models(known.values())
    heads = [
        of_arm(HEADS[norm], {"rank": rank}, seed, full[seed], published_as=str(rank))
        for seed in config["seeds"]
        for norm in config["retrained"]["norm"]
        for rank in config["retrained"]["ranks"]
        if seed in full and rank <= (known[full[seed]].rank or 0)
    ]
    return {head.name: head for head in heads}


def head_settings(config: Mapping[str, Any], head: Model) -> dict[str, Any]:
    """Settings on which a retrained head depends; the frozen model runs as in its own training."""
    chosen = {key: value for key, value in config["retrained"].items() if key not in ("ranks", "norm")}
    norm = next(norm for norm, arm in HEADS.items() if arm.kind == head.kind)
    how = {key: config["training"][key] for key in ("precision", "threads")}
    return settings(rank=head.rank, norm=norm, **chosen, **how)


def rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the table, for models of known rank: ``model``, ``kind``, ``rank``, ``seed``.

    The truncated heads of a member from the hub are not among them: no member of the family has another rank.
    """
    kinds = dict.fromkeys(arm.kind for arm in arms(config))
    known = by_name(config) | models(config)
    return [row for row in model_rows(known, *kinds) if None not in (row["rank"], row["seed"])]


def scored(config: Mapping[str, Any]) -> list[str]:
    """Names of the models of the table that are held against the truths."""
    kinds = {arm.kind for arm in arms(config) if arm.scored}
    return [row["model"] for row in rows(config) if row["kind"] in kinds]


def retraining_flops(shape: Mapping[str, Any], head: Mapping[str, Any]) -> int:
    """Operations of retraining a head on a frozen model, evaluations included.

    The model runs only forward. A head W = A B takes 6 operations per weight, forward and backward.
    """
    evaluations = -(-head["max_steps"] // head["evaluation_interval"]) + 1
    steps = head["max_steps"] + evaluations * head["evaluation_batches"]
    weights = head["rank"] * (vocabulary(shape) + head_input(shape))
    return steps * head["batch"] * shape["block"] * (flops_per_byte(shape) // 3 + 6 * weights)


def work(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Number of heads to retrain, and operations that it takes."""
    known, heads = by_name(config), models(config).values()
    total = sum(retraining_flops(known[str(head.source)].shape or {}, head_settings(config, head)) for head in heads)
    return [{"what": "heads that are retrained on a frozen model", "count": len(heads), "operations": total}]


STUDY = Study(models=models, arms=tuple(HEADS.values()), work=work)
