"""The arms: ways to limit what a head can give, or what a model can learn through it; one entry each.

An arm with keys is asked for by an entry of `family`; one without is made from a trained model's head. A study may add
its own (`plan.studies.Study.arms`); `plan.studies.arms` returns them with these.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from oversmoothing.models.output_kinds import KINDS, NOT_LINEAR
from oversmoothing.training.objectives import OBJECTIVES

COUNT = {"$ref": "#/$defs/count"}


@dataclass(frozen=True)
class Arm:
    """One way; its name is that of its models without the seed, from the keys of their entry: ``bn{rank}``."""

    kind: str  # of its models (`plan.models.Model`), which `oversmoothing.tables.kinds` names and draws
    name: str
    keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of its entry in `family`, with their schemas
    words: str = ""  # such an entry and what it is, for the description of `family`
    rank: str = "width"  # the key that is the rank of the head's input, or of its gradient
    model: tuple[str, ...] = ()  # keys that are settings of the model
    training: tuple[str, ...] = ()  # keys that are settings of its training
    fixed: Mapping[str, Any] = field(default_factory=dict)  # further settings of the model
    objective: str | None = None  # name of that of its training, if its entry asks for one
    alone: bool = True  # whether its models stand in no table but those that compare arms
    tested: bool = False  # whether claims compare it


FAMILY = Arm(
    "family",
    "bn{rank}",
    keys={"rank": {"description": "Rank of the head's input.", **COUNT}},
    words="`{rank: r}`, a bottleneck with a LayerNorm behind it (`bn4-s1337`)",
    rank="rank",
    model=("rank",),
    alone=False,
    tested=True,
)
WIDTH = Arm(
    "family",
    "w{width}",
    keys={
        "width": {"description": "Width, instead of `model.width`.", **COUNT},
        "heads": {"description": "Attention heads, instead of `model.heads`.", **COUNT},
    },
    words="`{width: w, heads: h}`, a model of that width throughout, without a bottleneck (`w64-s1337`)",
    model=("width", "heads"),
    alone=False,
    tested=True,
)
TRUNCATED = Arm("svd", "svd{rank}", rank="rank", alone=False, tested=True)
PLAIN = Arm(
    "plain",
    "pl{rank}",
    keys={
        **FAMILY.keys,
        "head": {
            "description": "With `rank`, `plain` for a head W = A B; if omitted, as `model.bottleneck_norm` says.",
            "enum": ["plain"],
        },
    },
    words="`{rank: r, head: plain}`, a head W = A B with nothing between the two (`pl4-s1337`)",
    rank="rank",
    model=("rank",),
    fixed={"bottleneck_norm": "before"},
)


def _behind(kind: str) -> Arm:
    """Return the arm of models with an output layer of a kind behind the bottleneck."""
    return Arm(
        kind,
        f"{kind}-bn{{rank}}",
        keys={
            **FAMILY.keys,
            "output": {
                "description": "With `rank`, the kind of output layer behind the bottleneck; if omitted, linear.",
                "enum": [kind],
            },
        },
        words=f"`{{rank: r, output: {kind}}}`, {KINDS[kind].title} (`{kind}-bn4-s1337`)",
        rank="rank",
        model=("rank", "output"),
    )


def objective_keys(*names: str) -> dict[str, Any]:
    """Return the schema of an objective (`training.objective`) with one of these names.

    It has the objective's keys, without a description.
    """
    known = [(name, OBJECTIVES[name]) for name in names if name in OBJECTIVES]
    bounds = {"type": "number", "minimum": 0, "maximum": 1}
    parameters = {own.key: {"description": f"Of `{name}`: {own.meaning}.", **bounds} for name, own in known}
    return {"required": ["name"], "properties": {"name": {"description": "Its name.", "enum": [*names]}, **parameters}}


def _under(name: str) -> tuple[Arm, Arm]:
    """Return the arms of models that learn under an objective, with a bottleneck and without one."""
    objective = OBJECTIVES[name]
    of_model = f"{name}{{objective[{objective.key}]:g}}"
    entry = f"objective: {{name: {name}, {objective.key}: x}}"
    full = Arm(
        name,
        of_model,
        keys={"objective": {"description": "As `training.objective`.", **objective_keys(*OBJECTIVES)}},
        words=f"`{{{entry}}}`, a full head that learns under {objective.title}",
        training=("objective",),
        objective=name,
    )
    narrow = replace(
        full,
        name=f"{FAMILY.name}-{of_model}",
        keys={**FAMILY.keys, **full.keys},
        words=f"`{{rank: r, {entry}}}`, the same behind a bottleneck (`bn4-{name}0.1-s1337`)",
        rank=FAMILY.rank,
        model=FAMILY.model,
    )
    return full, narrow


ARMS = (
    FAMILY,
    PLAIN,
    replace(
        PLAIN,
        kind="matched",
        name="pm{rank}",
        keys={
            **PLAIN.keys,
            "initial": {
                "description": "With a plain head, `matched`: `training.initial` of this model alone.",
                "enum": ["matched"],
            },
        },
        words="`{rank: r, head: plain, initial: matched}`, the same, with a product A B that starts as large as a full "
        "head (`pm4-s1337`)",
        training=("initial",),
    ),
    Arm(
        "backward",
        "bw{backward_rank}",
        keys={
            "backward_rank": {
                "description": "Rank through which the gradient reaches the trunk (`training.backward_rank`).",
                **COUNT,
            }
        },
        words="`{backward_rank: k}`, a head of full rank whose gradient reaches the trunk through k dimensions "
        "(`bw4-s1337`)",
        rank="backward_rank",
        training=("backward_rank",),
    ),
    Arm(
        "shorter",
        "bn{rank}-{max_steps}steps",
        keys={
            **FAMILY.keys,
            "max_steps": {
                "description": "Steps, instead of `training.max_steps`; the learning rate rises and falls over these.",
                **COUNT,
            },
        },
        words="`{rank: r, max_steps: n}`, the same trained for n steps, over which its learning rate rises and falls "
        "(`bn32-200steps-s1337`)",
        rank="rank",
        model=("rank",),
        training=("max_steps",),
    ),
    Arm(
        "context",
        "bn{rank}-context{context}",
        keys={**FAMILY.keys, "context": {"description": "As below.", **COUNT}},
        words="`{rank: r, context: w}`, the same whose logits are functions of the last w bytes alone; its "
        "layers share them evenly, and `block` or more limits nothing (`bn32-context8-s1337`)",
        rank="rank",
        model=("rank", "context"),
    ),
    Arm(
        "layers",
        "bn{rank}-layers{layers}",
        keys={**FAMILY.keys, "layers": {"description": "Transformer blocks, instead of `model.layers`.", **COUNT}},
        words="`{rank: r, layers: n}`, the same of n transformer blocks (`bn32-layers1-s1337`)",
        rank="rank",
        model=("rank", "layers"),
    ),
    *(_behind(kind) for kind in NOT_LINEAR),
    *(arm for name in OBJECTIVES for arm in _under(name)),
    WIDTH,
    TRUNCATED,
)
OF_FAMILY = [arm for arm in ARMS if arm.keys]
ALONE = tuple(arm.kind for arm in ARMS if arm.alone)
KINDS_OF_FAMILY = tuple(dict.fromkeys(arm.kind for arm in OF_FAMILY))


def asked(entry: Mapping[str, Any]) -> Arm:
    """Return the arm that an entry of `family` asks for.

    Of those whose keys and values it has, it is the one with most keys.
    """
    return max((arm for arm in OF_FAMILY if _fits(arm, entry)), key=lambda arm: len(arm.keys))


def _fits(arm: Arm, entry: Mapping[str, Any]) -> bool:
    if arm.objective and entry.get("objective", {}).get("name") != arm.objective:
        return False
    return all(key in entry and entry[key] in schema.get("enum", [entry[key]]) for key, schema in arm.keys.items())


def family_keys() -> dict[str, dict[str, Any]]:
    """Return schemas of the keys of entries of `family`; of a key that arms share, the values of all."""
    keys: dict[str, dict[str, Any]] = {}
    for arm in OF_FAMILY:
        for key, schema in arm.keys.items():
            values = [*keys.get(key, {}).get("enum", []), *schema.get("enum", [])]
            keys[key] = {**schema, "enum": list(dict.fromkeys(values))} if values else dict(schema)
    return keys
