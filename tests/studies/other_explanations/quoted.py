"""What docs/lifting.md quotes of the study's tables, without intervals."""

from itertools import chain

from kept_runs import Kept

from oversmoothing.models.output_kinds import KINDS, LINEAR
from studies.other_explanations.kinds import OTHER_HEADS
from studies.other_explanations.table import SIZES

PAGE = "docs/lifting.md"
RANKS = (4, 16, 32)
KEPT = Kept("explanations")


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    for words, numbers in chain(of_heads(), of_what_came(), of_other_trainings()):
        yield PAGE, words, numbers


def of_heads():
    """Yield starts, learning rates and sizes."""
    rates = KEPT.tables["learning_rates"]
    chosen = rates[rates.note == "chosen"].set_index("arm").learning_rate
    arms = {kind: [f"bn{rank}" if kind == LINEAR else f"{kind}-bn{rank}" for rank in RANKS] for kind in KINDS}
    for numbers in {(KINDS[kind].gain, *chosen[names]) for kind, names in arms.items()}:
        yield "| {:.3g} | {:.3f}, {:.3f}, {:.3f} |", numbers
    yield "| 1 | {:.3f}, {:.3f}, - |", chosen[["pl4", "pl16"]]
    table = KEPT.tables["explanations"]
    sizes = table[table.measure.str.startswith("head_")].set_index(["measure", "arm"]).value
    sized = {tuple(sizes[f"head_{size}", arm] for arm in names for size in SIZES) for names in arms.values()}
    for numbers in sized:
        yield "| {:,.0f} · {:,.0f} | {:,.0f} · {:,.0f} | {:,.0f} · {:,.0f} |", numbers


def of_what_came():
    """Yield adjusted p of real text and laws."""
    table = KEPT.tables["explanations"]
    noted = table[table.law.isna()].set_index(["measure", "arm"])
    p = adjusted(noted)
    less, at_operations = p["tto_less_linear"], p["tto_at_operations"]
    layers = noted[noted.kind.isin(OTHER_HEADS)]
    assert less["mfs3-bn4"] < 0.001
    rest = less[layers.loc["tto_less_linear"].index].drop(["pl4", "mfs3-bn4", "mfs3-bn16"])
    words = "*p* is {:.3f}, below 0.001 and {:.3f} for these, and {:.2f} or more for the others."
    yield words, [less["pl4"], less["mfs3-bn16"], rest.min()]
    yield "is not gained at full rank too (*p* {:.3f})", [p["tto_more_than_at_full"]["mfs3-bn4"]]
    costly = [f"{kind}-bn4" for kind in ("mos2", "mos4", "mfs3", "two_layer")]
    yield "(*p* is at most {:.4f})", [at_operations[costly].max()]
    yield "at rank 32: Q, *p* {:.2f})", [at_operations["mfs3-bn32"]]
    at_loss = layers.loc["tto_at_loss"]
    yield "(*p* is at least {:.3f})", [p["tto_at_loss"][at_loss.index].min()]
    assert abs(at_loss.value.drop([f"{kind}-bn4" for kind in ("softcap", "sigsoftmax", "monotone")])).max() < 0.01
    yield "all others are within 0.010 of 0", []
    tailr = [p[f"{metric}_at_tto"]["bn32-tailr0.1"] for metric in ("tv", "kl")]
    yield "than the temperature (*p* {:.2f} and {:.2f})", tailr
    yield "(*p* {:.4f} and {:.3f})", p["tv_at_tto"][["mfs3-bn4", "pl4"]]
    of_laws = [adjusted(table[table.law == law].set_index(["measure", "arm"])) for law in ("full", "rank8")]
    words = "under `code` (*p* {:.3f} and {:.4f})"
    yield words, [p["kl_at_tto", "bn32-label-smoothing0.05"] for p in of_laws]


def of_other_trainings():
    """Yield adjusted p after four times the steps, and at width 288."""
    longer = Kept("explanations_long").tables["explanations"].set_index(["measure", "arm"])
    p = adjusted(longer)
    low = p["tto_less_linear"][longer.loc["tto_less_linear", "rank"] == RANKS[0]]
    yield "(*p* at rank 4 is {:.3f} or less.)", [low.max()]
    yield "though *p* is {:.2f}. At equal loss", [p["tto_at_operations"]["mfs3-bn4"]]

    less = adjusted(Kept("explanations_wide").tables["explanations"].set_index(["measure", "arm"]))["tto_less_linear"]
    assert f"{less['mfs3-bn4']:.3f}" == f"{less['pl4']:.3f}"
    yield "leaks Q more (*p* {:.3f})", [less["mfs3-bn288"]]
    yield "gain (*p* {:.3f} each)", [less["pl4"]]
    yield "cannot be shown (*p* {:.2f})", [less["mos2-bn4"]]


def adjusted(rows):
    """The adjusted p in the notes of rows."""
    return rows.note.dropna().str.removeprefix("p = ").astype(float)
