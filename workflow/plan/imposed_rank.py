"""For the chapter `imposed_rank.smk`: settings of a retrained head, and rows of the table."""

from collections.abc import Mapping
from typing import Any

from plan.models import ARMS, NORMS, Model, by_name, model_rows, retrained_heads
from plan.settings import settings


def head_settings(config: Mapping[str, Any], head: Model) -> dict[str, Any]:
    """Settings on which a retrained head depends; the frozen model runs as in its own training."""
    chosen = {key: value for key, value in config["retrained"].items() if key not in ("ranks", "norm")}
    norm = next(norm for norm, (kind, _) in NORMS.items() if kind == head.kind)
    how = {key: config["training"][key] for key in ("precision", "threads")}
    return settings(rank=head.rank, norm=norm, **chosen, **how)


def rows(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of the imposed-rank table, for models of known rank: ``model``, ``kind``, ``rank``, ``seed``.

    The truncated heads of a member from the hub are not among them: no member of the family has another rank.
    """
    known = by_name(config) | retrained_heads(config)
    kinds = ("family", *ARMS, "svd", "retrained", "normed")
    return [row for row in model_rows(known, *kinds) if None not in (row["rank"], row["seed"])]
