"""What docs/lifting.md quotes of the study's tables, without intervals."""

from kept_runs import Kept

from oversmoothing.models.output_kinds import KINDS, LINEAR
from studies.other_explanations.kinds import OTHER_HEADS
from studies.other_explanations.table import SIZES

PAGE = "docs/lifting.md"
RANKS = (4, 16, 32)


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    kept = Kept("explanations")
    rates = kept.tables["learning_rates"]
    chosen = rates[rates.note == "chosen"].set_index("arm").learning_rate
    arms = {kind: [f"bn{rank}" if kind == LINEAR else f"{kind}-bn{rank}" for rank in RANKS] for kind in KINDS}
    for numbers in {(KINDS[kind].gain, *chosen[names]) for kind, names in arms.items()}:
        yield PAGE, "| {:.3g} | {:.3f}, {:.3f}, {:.3f} |", numbers
    yield PAGE, "| 1 | {:.3f}, {:.3f}, - |", chosen[["pl4", "pl16"]]

    table = kept.tables["explanations"]
    real = table[table.law.isna()].set_index(["measure", "arm"])
    p = real.note.dropna().str.removeprefix("p = ").astype(float)
    less = p["tto_less_linear"]
    shown = [less[arm] for arm in ("pl4", "mfs3-bn16")]
    yield PAGE, "*p* is {:.3f}, below 0.001 and {:.4f} for these,", shown
    of_layers = real[real.kind.isin(OTHER_HEADS)]
    layers = of_layers.loc["tto_less_linear"].index
    assert less["mfs3-bn4"] < 0.001
    others = less[layers.difference(["pl4", "mfs3-bn4", "mfs3-bn16"])]
    yield PAGE, "and {:.2f} or more for all other output layers", [others.min()]
    at_loss = of_layers.loc["tto_at_loss"]
    assert abs(at_loss.value).max() < 0.018
    yield PAGE, "lie within 0.018 of 0, and *p* is at least {:.3f}", [p["tto_at_loss"][at_loss.index].min()]
    yield PAGE, "though *p* is {:.2f})", [p["tv_at_tto"]["bn32-tailr0.1"]]

    sizes = table[table.measure.str.startswith("head_")].set_index(["measure", "arm"]).value
    longer = Kept("explanations_long").tables["explanations"].set_index(["measure", "arm"])
    p = longer.note.dropna().str.removeprefix("p = ").astype(float)
    low = p["tto_less_linear"][longer.loc["tto_less_linear", "rank"] == RANKS[0]]
    yield PAGE, "*p* at rank 4 is {:.3f} or less.", [low.max()]
    yield PAGE, "though *p* is {:.2f}. At equal loss", [p["tto_at_operations"]["mfs3-bn4"]]
    same_rate = Kept("explanations_rate").tables["explanations"].set_index(["measure", "arm"])
    p = float(same_rate.note["tto_less_linear", "mfs3-bn16"].removeprefix("p = "))
    yield PAGE, "(*p* {:.3f}, adjusted for six)", [p]
    trial = rates[(rates.measure == "validation_loss") & (rates.arm == "bn16")].set_index("learning_rate").value
    yield PAGE, "the linear head {:.3f}, by a margin of {:.3f} nats,", [trial.idxmin(), trial[0.024] - trial.min()]

    sized = {tuple(sizes[f"head_{size}", arm] for arm in names for size in SIZES) for names in arms.values()}
    for numbers in sized:
        yield PAGE, "| {:,.0f} · {:,.0f} | {:,.0f} · {:,.0f} | {:,.0f} · {:,.0f} |", numbers
