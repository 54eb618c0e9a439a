"""Numbers, tables and words of docs/article/article.typ beside those that pages share.

The replication and the equal-loss study are computed again from time to time, with more seeds or another judge. So what
the article says of them is chosen here from their tables: numbers of seeds, verdicts, and which ranks differ.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from oversmoothing.jobs import UserError
from oversmoothing.tables.quantities import SIGNIFICANT, Quantity, Table, of_seeds, paired, percent, spread, told_apart
from oversmoothing.tables.quantities import digits as printed
from pages.decoding import WITH_SETTINGS, bytewise
from pages.expectations import is_within, rank_32_less_full
from pages.findings import (
    RANKS,
    added_after_long_training,
    against_models_less_law,
    change_of_forced,
    change_of_share_of_kl,
    decoded_tto,
    fifth_tto_came,
    fifth_tto_predicted,
    forced_by_law,
    forced_by_law_with_more_text,
    highest_at_equal_validation_loss,
    large_models_force,
    left_by_greedy,
    other_heads,
    shares_after_long_training,
    shares_of_what_is_added,
    slope_of_kl,
    stand_ins_change_excess,
    truncated_heads,
    widest_gap,
)
from pages.kept import (
    CHAPTERS,
    ROOT,
    STUDIES,
    TRUTHS,
    after_equal_steps,
    after_equal_steps_by_three_truths,
    and_not_tested,
    at_equal_loss,
    at_equal_loss_by_three_truths,
    at_equal_validation_loss,
    beside_fewer_bytes,
    chance,
    counted_sentences,
    full_heads_beside_other_steps,
    kept,
    leaks_at_equal_loss,
    nats_above_stopped_trunk_at_32,
    number_of_sentences,
    published,
    sentences,
    starred,
    verdicts,
)
from pages.notes import full as known
from pages.notes import murugan
from pages.other_heads import COSTLY, after_400_steps
from pages.replication import least_certain, number_that_cannot_fail, together, verdict_with_counts
from pages.scale import (
    growth_by_size,
    growth_of_leak,
    held_out,
    held_out_above_largest,
    hits_at_fifth_size,
    hits_elsewhere,
    largest,
    million,
    miss_at_rank_4,
    none_above_by_smollm2,
    shares_by_size,
    smallest,
    thesis_tto_came,
    thesis_tto_predicted,
    widest_at_equal_loss,
)
from pages.vocabularies import (
    more_tokens_need_fewer,
    rank_needed_at_first,
    smollm2_found_wider,
)

__all__ = [  # what the source names of other pages
    "added_after_long_training",
    "after_equal_steps_by_three_truths",
    "against_models_less_law",
    "and_not_tested",
    "at_equal_loss_by_three_truths",
    "at_equal_validation_loss",
    "beside_fewer_bytes",
    "change_of_forced",
    "change_of_share_of_kl",
    "decoded_tto",
    "fifth_tto_came",
    "fifth_tto_predicted",
    "forced_by_law",
    "forced_by_law_with_more_text",
    "full_heads_beside_other_steps",
    "growth_by_size",
    "growth_of_leak",
    "held_out",
    "held_out_above_largest",
    "highest_at_equal_validation_loss",
    "hits_at_fifth_size",
    "hits_elsewhere",
    "large_models_force",
    "largest",
    "left_by_greedy",
    "million",
    "miss_at_rank_4",
    "more_tokens_need_fewer",
    "murugan",
    "nats_above_stopped_trunk_at_32",
    "none_above_by_smollm2",
    "number_that_cannot_fail",
    "other_heads",
    "rank_needed_at_first",
    "shares_by_size",
    "shares_of_what_is_added",
    "slope_of_kl",
    "smallest",
    "smollm2_found_wider",
    "stand_ins_change_excess",
    "thesis_tto_came",
    "thesis_tto_predicted",
    "truncated_heads",
    "widest_at_equal_loss",
    "widest_gap",
]

run = kept("replication")
FULL = max(RANKS)
THEIR_FULL = 512
THEIRS = {"truth": "NanoGPT 300M", "smollm2": "EvaByte"}  # the thesis's truth beside each of ours
DECODINGS = ("pure", "greedy", "top-k", "top-p", "temperature")
METRICS = {"tto": "TTO", "nsmd": "NSMD", "tv": "TV", "kl": "KL"}
NONE = "-"
PLUS_MINUS = "\u00a0±\u00a0"  # which no line ends at


# What the kept runs are.
def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


_DEFAULT = _read(ROOT / "config/config.yaml")


def _settings_of(study: str) -> dict[str, Any]:
    """Return the settings of a kept run, with the default's for what it does not state."""
    own = _read(STUDIES / study / "config.yaml")
    return {**_DEFAULT, **own, **{name: {**_DEFAULT[name], **own.get(name, {})} for name in ("model", "training")}}


def made(study: str) -> str:
    """Return cells of a Typst table: which models a kept run trained, its commit, and its hours of processor."""
    settings = _settings_of(study)
    known = json.loads((STUDIES / study / "run.json").read_text(encoding="utf-8"))
    drawn = settings.get("known_law", {}).get("texts", [])
    seeds = settings["seeds"] if settings["seeds"] != _DEFAULT["seeds"] or not drawn else drawn[0]["seeds"]
    steps = f"{settings['training']['max_steps']:,} steps"
    if sizes := settings.get("size_ladder", {}).get("sizes"):
        most = max(len(size["seeds"]) for size in sizes)
        models = f"widths {sizes[0]['width']} to {sizes[-1]['width']}, {steps}, up to {most} seeds"
    elif "model" in settings.get("real_head", {}) or settings.get("dimensions_needed", {}).get("within_truth"):
        models = NONE
    else:
        models = f"width {settings['model']['width']}, {steps}, {len(seeds)} seed{'s'[: len(seeds) > 1]}"
    return ", ".join(f"[{cell}]" for cell in (models, known["commit"][:8], f"{known['processor_hours']:.1f}"))


_settings = _settings_of("replication")
(_own_truth,) = (truth for truth in _settings["truths"] if truth["name"] == "truth")
layers_of_own_truth, steps_of_own_truth = _own_truth["model"]["layers"], _own_truth["training"]["max_steps"]
other_steps = sorted(of["max_steps"] for of in _settings_of("equal_loss")["family"] if "max_steps" in of)
_judge = _settings.get("quality", {}).get("language_model")
judge_is_real = _judge is not None  # or else a small GPT-2 that is trained on the same text
_one_rank = run.oversmoothing.where("tto", RANKS[0], "truth")
positions = _one_rank.all()[0].n
seeds_at_equal_loss = at_equal_loss("tto", RANKS[0], "truth").n
verdicts_over_windows = "low_crossed" in run.across_seeds.frame  # or over seeds alone
number_of_samples = run.sample_quality.where("word_length", RANKS[0], decoding="pure").all()[0].n
positions_of_tbat = run.tbat.where("tbat", RANKS[0], decoding="pure").all()[0].n
spread_of_tto = max(
    spread(run.oversmoothing.column("value", measure="tto", rank=rank, truth=truth))
    for rank in RANKS
    for truth in TRUTHS
)


def ran(study: str) -> bool:
    """Return whether a run is kept."""
    return (STUDIES / study / "run.json").is_file()


def state_of(*runs: str) -> str:
    """Return in words that runs have not run, or that they have and this article does not tell of it."""
    found = [f"`{name}`" for name in runs if ran(name)]
    return f"has run ({', '.join(found)}), and this article does not tell of it yet" if found else "has not run"


# Words.
def ranks_in_words(ranks: Sequence[int]) -> str:
    """Return ranks as a part of a sentence."""
    *first, last = map(str, ranks or [0])
    if not ranks:
        return "no rank"
    return f"ranks {', '.join(first)} and {last}" if first else f"rank {last}"


def differ(beside: Table, measure: str) -> str:
    """Return which ranks show significantly less or more than full heads of their loss, and by which truth."""
    found = []
    for word, sign in (("lower", -1), ("higher", 1)):
        for truth, name in (("truth", "the own truth"), ("smollm2", "SmolLM2")):
            known = {rank: beside(measure, rank, truth) for rank in RANKS[:-1]}
            ranks = [rank for rank, of in known.items() if told_apart([of]) and sign * of > 0]
            found += [f"{word} at {ranks_in_words(ranks)} by {name}"] if ranks else []
    return ", ".join(found) or "nowhere different"


def contradicted(sentence: str) -> bool:
    """Return whether a sentence of the thesis is contradicted, by both truths if it has a verdict by each."""
    return sentences.column("verdict", id=sentence, truth=None) == ["contradicted"]


def printed_verdict(sentence: str) -> str:
    """Return the verdict of the thesis's own printed means on a sentence."""
    (found,) = sentences.column("published_verdict", id=sentence, truth=None)
    return found


def tested(sentence: str) -> str:
    """Return how a sentence of the thesis is tested."""
    (found,) = sentences.column("test", id=sentence, truth=None)
    return found


# At equal loss.
highest_at_equal_loss = math.ceil(1000 * max(of.high for of in leaks_at_equal_loss)) / 1000


tto_beside_full_heads = [
    (
        rank,
        *(starred(of("tto", rank, truth)) for of in (at_equal_loss, beside_fewer_bytes) for truth in TRUTHS),
        *(after_equal_steps("tto", rank, truth) for truth in TRUTHS),
    )
    for rank in RANKS[:-1]
]
kl_beside_full_heads = [
    (rank, *(starred(of("kl", rank, truth)) for of in (at_equal_loss, beside_fewer_bytes) for truth in TRUTHS))
    for rank in RANKS[:-1]
]
slopes_exclude_1 = not any(of.low <= 1 <= of.high for of in map(slope_of_kl, TRUTHS))


def as_expected_at_equal_validation_loss(truth: str) -> str:
    """Return whether TTO at ranks 4 to 32 is within 0.01 of that of a full head of equal validation loss."""
    return is_within(at_equal_validation_loss.all("tto", (4, 8, 12, 16, 32), truth), -0.01, 0.01)


def _range(numbers: Sequence[Quantity]) -> str:
    """Return the lowest and the highest of several differences, with their intervals."""
    return f"{printed(min(numbers))} to {printed(max(numbers))}"


full_less_rank_32 = [-difference for difference in rank_32_less_full]

# What other studies let the article say.
gains_over_min_p = bytewise.all(less="min-p", decoding=list(WITH_SETTINGS))
no_method_beats_min_p = not any(gain > 0 and gain.p < SIGNIFICANT for gain in gains_over_min_p)
highest_gain_over_min_p = max(gains_over_min_p)
bat_less_min_p = bytewise.all(less="min-p", decoding="bat")
range_of_bat = _range(bat_less_min_p)
nsmd_under_greedy = of_seeds(
    run.decodings.column("value", measure="nsmd", rank=FULL, truth="truth", decoding="greedy", kind="family")
)
greedy_is_too_sharp = nsmd_under_greedy.high < 0
forced_rises_at_rank_8 = change_of_forced(8, "smollm2").low > 0
leak_of_full_rank = of_seeds(run.oversmoothing.column("value", measure="tto", rank=FULL, truth="truth"))
hidden_at_full_rank = known.hidden()


def _in_points(change: Any) -> str:
    return percent(change).replace(" %", " points") if isinstance(change, Quantity) else NONE


shares_before_and_after = [
    (name.replace("a known law", "known distribution"), before, after, *map(_in_points, changes))
    for name, before, after, *changes in shares_after_long_training
]
no_costly_head_leaks_less = not any(
    number.high < 0 and number.p < SIGNIFICANT for number in after_400_steps.at_equal_operations.all("tto", kind=COSTLY)
)


# The thesis's tables beside ours.
def _means(table: Table, **keys: object) -> Quantity:
    return of_seeds(table.column("value", **keys))


def _ours(mean: Quantity, decimals: int = 3) -> str:
    """Return a mean over seeds and half of its 95 % interval, with so many digits that the half is not printed as 0."""
    half = _half(mean)
    while half > 0 and round(half, decimals) == 0:
        decimals += 1
    return f"{printed(mean.value, decimals)}{PLUS_MINUS}{printed(half, decimals)}" if half else printed(mean.value, 0)


def _half(mean: Quantity) -> float:
    return (mean.high - mean.low) / 2


def _theirs(number: float, decimals: int = 3) -> str:
    small = 0 < abs(number) < 0.5 * 10**-decimals
    return f"< {10**-decimals:.{decimals}f}" if small else printed(float(number), decimals)


def _label(rank: int) -> str:
    return f"{FULL} ({THEIR_FULL})" if rank == FULL else str(rank)


def _their_rank(rank: int) -> int:
    return THEIR_FULL if rank == FULL else rank


def _beside(name: str, metrics: Iterable[str], ours: Table, ranks: Iterable[int]) -> Iterator[list[str]]:
    """Yield rows of a table of the thesis: for each metric and truth its number and ours."""
    table = getattr(published, name).by("metric", "model", "truth")
    for rank in ranks:
        row = [_label(rank)]
        for metric in metrics:
            for truth, theirs in THEIRS.items():
                row.append(_theirs(table(metric, _their_rank(rank), theirs).value))
                row.append(_ours(_means(ours, measure=metric, rank=rank, truth=truth)))
        yield row


def _with_tbat() -> Iterator[list[str]]:
    theirs = published.table_4_1.by("metric", "model")
    for rank, row in zip(RANKS, _beside("table_4_1", ("tto", "nsmd"), run.oversmoothing, RANKS), strict=True):
        ours = _means(run.oversmoothing, measure="tbat", rank=rank)
        yield [*row, _theirs(theirs("tbat", _their_rank(rank)).value), _ours(ours)]


def _losses() -> Iterator[list[str]]:
    """Yield rows of Table 3.1: of each model and truth the thesis's numbers, then ours."""
    theirs = published.table_3_1.by("metric", "model")
    models = {_label(rank): (str(_their_rank(rank)), {"kind": "family", "rank": rank}) for rank in RANKS}
    truths = {"NanoGPT, own truth": ("truth", "truth"), "EvaByte, SmolLM2": ("smollm2", "smollm2")}
    models |= {name: (THEIRS[truth], {"arm": arm}) for name, (truth, arm) in truths.items()}
    for name, (their_model, keys) in models.items():
        row = [name]
        for measure in ("validation_loss", "accuracy", "loss"):
            if measure != "loss":  # on the scored text, which the thesis does not print
                row.append(_theirs(theirs(measure, their_model).value))
            values = run.losses.column("value", measure=measure, **keys)
            row.append(_ours(of_seeds(values)) if len(values) > 1 else printed(values[0]) if values else NONE)
        yield row


def their_rise(truth: str) -> float:
    """Return by which share of it the thesis's TTO of full rank is above that of rank 128."""
    theirs = published.table_4_1.by("metric", "model", "truth")
    return spread([theirs("tto", rank, THEIRS[truth]) for rank in (THEIR_FULL, 128)])


def their_fall(truth: str) -> float:
    """Return by how much TTO of the thesis's rank 4 stands above that of its full rank."""
    theirs = published.table_4_1.by("metric", "model", "truth")
    return theirs("tto", RANKS[0], THEIRS[truth]) - theirs("tto", THEIR_FULL, THEIRS[truth])


def our_fall(truth: str) -> Quantity:
    """Return by how much TTO of our rank 4 stands above that of full rank, over seeds."""
    tto = run.oversmoothing.where("tto", truth=truth, kind="family").by("rank")
    return paired(*(tto.where(rank) for rank in (4, FULL)))


rises_within_chance = {2: "both", 1: "one of the two", 0: "neither"}[
    sum(their_rise(truth) <= spread_of_tto for truth in TRUTHS)
]
table_3_1 = list(_losses())
table_4_1 = list(_with_tbat())
table_4_2 = list(_beside("table_4_2", ("tv", "kl"), run.oversmoothing, RANKS))
SVD_RANKS = sorted({int(rank) for rank in published.table_7_1.column("model")})
table_7_1 = list(_beside("table_7_1", ("tto", "nsmd"), run.svd, SVD_RANKS))
table_f_1 = list(_beside("table_f_1", ("entropy_difference",), run.entropy_difference, RANKS))

REPRESENTATIONS = {
    "logits": "logits",
    "probabilities": "probabilities",
    "post": "post_bottleneck",
    "pre": "pre_bottleneck",
}


def _effective_ranks() -> Iterator[list[str]]:
    table = published.table_7_3.by("representation", "model")
    for rank in RANKS:
        row = [_label(rank)]
        for ours, theirs in REPRESENTATIONS.items():
            row.append(_theirs(table(theirs, _their_rank(rank)).value, 1))
            row.append(_ours(_means(run.effective_rank, measure="effective_rank", rank=rank, representation=ours), 1))
        yield row


table_7_3 = list(_effective_ranks())


def unargmaxable(rank: int) -> Quantity:
    """Return how many bytes a head of a rank can never make the most probable, over seeds."""
    return _means(run.argmaxability, measure="unargmaxable", condition="free", rank=rank)


def their_unargmaxable(rank: int) -> int:
    """Return how many bytes the thesis's head of a rank can never make the most probable."""
    (count,) = published.table_b.column("count", model=rank)
    return int(count)


def _by_decoding() -> Iterator[list[str]]:
    """Yield rows of Table 6.1: for each rank, metric and decoding the thesis's mean over both truths and ours."""
    theirs = published.table_6_1.by("metric", "model", "decoding")
    for rank in RANKS:
        for metric, name in METRICS.items():
            row = [_label(rank) if metric == "tto" else "", name]
            for how in DECODINGS:
                ours = _pooled(metric, rank, how)
                row += [_theirs(theirs(metric, _their_rank(rank), how).value), printed(ours.value)]
            yield row


def _pooled(metric: str, rank: int, decoding: str) -> Quantity:
    return _means(run.decodings_pooled, measure=metric, rank=rank, decoding=decoding)


table_6_1 = list(_by_decoding())


def widest_half_by_decoding(metrics: Sequence[str]) -> float:
    """Return half of the widest interval of a mean over both truths, of all ranks and decodings."""
    return max(_half(_pooled(metric, rank, how)) for metric in metrics for rank in RANKS for how in DECODINGS)


OF_SAMPLES = {"perplexity": 1, "bigram": 3, "mauve": 3, "byte_tv": 3, "valid_words": 3, "word_length": 2}
_HALVED = "byte_tv"  # the thesis prints half of it


def _of_sample(numbers: Iterable[tuple[str, Quantity]]) -> list[str]:
    cells = []
    for measure, mean in numbers:
        scale = 0.5 if measure == _HALVED else 1.0
        ends = {end: scale * mean.row[end] for end in ("low", "high") if end in mean.row}
        halved, decimals = Quantity(scale * mean.value, ends), OF_SAMPLES[measure]
        cells.append(_ours(halved, decimals) if ends else printed(halved.value, decimals))
    return cells


def _samples() -> Iterator[list[str]]:
    """Yield rows of Table 5.3: of each rank the thesis's numbers, then ours, and of human text."""
    theirs = published.table_5_3.by("metric", "model")
    for rank in RANKS:
        of_rank = run.sample_quality.where(rank=rank, decoding="pure", kind="family")
        yield [
            _label(rank),
            "thesis",
            *(_theirs(theirs(of, str(_their_rank(rank))).value, decimals) for of, decimals in OF_SAMPLES.items()),
        ]
        yield ["", "here", *_of_sample((of, _means(of_rank, measure=of)) for of in OF_SAMPLES)]
    yield ["people", "thesis", *(_theirs(theirs(of, "Human").value, decimals) for of, decimals in OF_SAMPLES.items())]
    for model, name in (("human", "here"), ("human, second set", "second set")):
        people = run.sample_quality.where(model=model).by("measure")
        yield ["", name, *_of_sample((of, Quantity(people(of).value, {})) for of in OF_SAMPLES)]


table_5_3 = list(_samples())


# Verdicts.
def _by_truth(sentence: str) -> list[str]:
    found = (sentences.column("verdict", id=sentence, truth=truth) for truth in TRUTHS)
    return [own[0] if own else NONE for own in found]


def _verdict_rows() -> Iterator[list[str]]:
    for row in together.frame.to_dict("records"):
        mark = "† " if isinstance(row["cannot_fail"], str) else ""
        yield [
            f"{mark}{row['statement']} ({row['place']})",
            verdict_with_counts(row),
            *_by_truth(row["id"]),
            row["published_verdict"],
        ]


verdict_rows = list(_verdict_rows())


def _counts() -> Iterator[list[object]]:
    counted = counted_sentences.frame
    for chapter, title in CHAPTERS.items():
        of_chapter = counted[counted.chapter == chapter]
        if len(of_chapter):
            found = of_chapter.verdict.value_counts()
            yield [title, len(of_chapter), *(int(found.get(verdict, 0)) for verdict in VERDICTS)]


VERDICTS = ("holds", "holds in part", "contradicted", "depends on the truth", "open", "not tested here")
verdicts_by_chapter = list(_counts())


def decided(sentence: str) -> str:
    """Return how many comparisons of a sentence are decided against it, and how many for it."""
    (row,) = sentences.where(id=sentence, truth=None).frame.to_dict("records")
    against, all_of_them, towards = (f"{row[name]:.0f}" for name in ("decided_against", "contrasts", "decided_for"))
    return f"{against} of {all_of_them} comparisons against it, {towards} for it"


def farthest_comparison(sentence: str) -> str:
    """Return the words of the comparison that is farthest from what a sentence expects."""
    (found,) = sentences.column("weakest", id=sentence, truth=None)
    return found


written_better = (
    "more valid words"
    if farthest_comparison("leaking-less-is-necessary").startswith("Valid words")
    else "bytes more like people's"
)


def rank_of_farthest(sentence: str) -> str:
    """Return the first rank that this comparison names."""
    found = re.search(r"rank \d+", farthest_comparison(sentence))
    if not found:
        raise UserError(f"claims.csv of replication: {sentence}: its weakest comparison names no rank")
    return found[0]


def _against(row: Mapping[str, Any]) -> str:
    """Return the comparison that decides against a sentence, and where the sentence expects it."""
    said = least_certain(row).replace("against truth", "by the own truth").replace("against smollm2", "by SmolLM2")
    bounds = [(word, row[of]) for word, of in (("above", "above"), ("below", "below")) if math.isfinite(row[of])]
    expected = " and ".join(f"{word} {bound:.3g}" for word, bound in bounds)
    return f"{said.replace(' less ', ' minus ')}; expected {expected}" if expected else said


def _contradicted_rows() -> Iterator[list[str]]:
    found = counted_sentences.where(verdict="contradicted").frame
    for row in found.to_dict("records"):
        stated = f"{row['statement']} ({row['place']})"
        yield [stated, _against(row), *_by_truth(row["id"]), row["published_verdict"]]


contradicted_rows = list(_contradicted_rows())
verdicts_add_up = sum(verdicts[name] for name in VERDICTS) == number_of_sentences
number_opposed = sum(
    {"holds", "contradicted"} <= {sentences.column("verdict", id=name, truth=truth)[0] for truth in TRUTHS}
    for name in counted_sentences.column("id", verdict="depends on the truth")
)
contradicted_by_its_tables = len(counted_sentences.column("id", published_verdict="contradicted"))
contradicted_here_and_there = sum(row[-1] == "contradicted" for row in contradicted_rows)
wrong_by_chance = chance("wrong") * number_of_sentences  # were every comparison at its bound
_in_part = sorted(
    (row["decided_for"] / row["contrasts"], f"{row['decided_for']:.0f} of {row['contrasts']:.0f}")
    for row in counted_sentences.where(verdict="holds in part").frame.to_dict("records")
)
fewest_in_part, most_in_part = (words for _, words in (_in_part[0], _in_part[-1]))
