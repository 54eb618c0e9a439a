"""Numbers, tables and words of docs/article/article.typ beside those that pages share.

The replication and the equal-loss study are computed again from time to time, with more seeds or another judge. So what
the article says of them is chosen here from their tables: numbers of seeds, verdicts, and which ranks differ.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from oversmoothing.tables.quantities import SIGNIFICANT, Quantity, Table, of_seeds, spread
from oversmoothing.tables.quantities import digits as printed
from pages.decoding import WITH_SETTINGS, bytewise
from pages.expectations import is_within, rank_32_less_full
from pages.findings import (
    RANKS,
    against_models_less_law,
    beside_full_heads,
    change_of_forced,
    decoded_tto,
    forced_by_law,
    forced_by_law_with_more_text,
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
    STUDIES,
    TRUTHS,
    after_equal_steps,
    at_equal_loss,
    at_equal_validation_loss,
    counted_sentences,
    kept,
    published,
    sentences,
    verdicts,
)
from pages.notes import murugan
from pages.other_heads import COSTLY, after_400_steps
from pages.replication import least_certain, number_that_cannot_fail, together, verdict_with_counts

__all__ = [  # what the source names of other pages
    "against_models_less_law",
    "at_equal_validation_loss",
    "beside_full_heads",
    "change_of_forced",
    "decoded_tto",
    "forced_by_law",
    "forced_by_law_with_more_text",
    "large_models_force",
    "left_by_greedy",
    "murugan",
    "number_that_cannot_fail",
    "other_heads",
    "rank_32_less_full",
    "shares_after_long_training",
    "shares_of_what_is_added",
    "slope_of_kl",
    "stand_ins_change_excess",
    "truncated_heads",
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
_settings = yaml.safe_load((STUDIES / "replication/config.yaml").read_text(encoding="utf-8"))
_judge = _settings.get("quality", {}).get("language_model")
judge_is_real = _judge is not None  # or else a small GPT-2 that is trained on the same text
_one_rank = run.oversmoothing.where("tto", RANKS[0], "truth")
seeds, positions = len(_one_rank.frame), _one_rank.all()[0].n
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


_real_heads = [path.parents[1].name for path in sorted(STUDIES.glob("*/tables/real_head.csv"))]
state_of_second_real_head = state_of(*(name for name in _real_heads if name != "real_head"))


# Words.
def ranks_in_words(ranks: Sequence[int]) -> str:
    """Return ranks as a part of a sentence."""
    *first, last = map(str, ranks or [0])
    if not ranks:
        return "no rank"
    return f"ranks {', '.join(first)} and {last}" if first else f"rank {last}"


def _differ(measure: str, truth: str, sign: int) -> list[int]:
    differences = ((rank, at_equal_loss(measure, rank, truth)) for rank in RANKS[:-1])
    return [rank for rank, of in differences if of.p < SIGNIFICANT and sign * of > 0]


def lower_at_equal_loss(measure: str, truth: str) -> str:
    """Return which ranks show significantly less than a full head of their loss."""
    return ranks_in_words(_differ(measure, truth, -1))


def higher_at_equal_loss(measure: str, truth: str) -> str:
    """Return which ranks show significantly more than a full head of their loss."""
    return ranks_in_words(_differ(measure, truth, 1))


def contradicted(sentence: str) -> bool:
    """Return whether a sentence of the thesis is contradicted, by both truths if it has a verdict by each."""
    return sentences.column("verdict", id=sentence, truth=None) == ["contradicted"]


def printed_verdict(sentence: str) -> str:
    """Return the verdict of the thesis's own printed means on a sentence."""
    (found,) = sentences.column("published_verdict", id=sentence, truth=None)
    return found


# At equal loss.
def largest_at_equal_loss(measure: str) -> Quantity:
    """Return the difference from a full head of equal loss that is farthest from 0, of all ranks and truths."""
    return max(at_equal_loss.all(measure, truth=list(TRUTHS)), key=abs)


size_of_largest_difference = abs(largest_at_equal_loss("tto"))
small_at_equal_loss = max(
    max(map(abs, at_equal_loss.all("tto", truth=truth))) / after_equal_steps("tto", RANKS[0], truth) for truth in TRUTHS
)


def as_expected_at_equal_validation_loss(truth: str) -> str:
    """Return whether TTO at ranks 4 to 32 is within 0.01 of that of a full head of equal validation loss."""
    return is_within(at_equal_validation_loss.all("tto", (4, 8, 12, 16, 32), truth), -0.01, 0.01)


def _range(numbers: Sequence[Quantity]) -> str:
    """Return the lowest and the highest of several differences, with their intervals."""
    return f"{printed(min(numbers))} to {printed(max(numbers))}"


def controls_differ_by(measure: str, truth: str) -> str:
    """Return by how much full heads of a shorter context or one layer differ from those of other steps."""
    table = kept("equal_loss_controls").equal_loss.where(less="equal loss on the windows", kind=["context", "layers"])
    return _range(table.all(measure, truth=truth))


def ranks_less_shorter_context(measure: str, truth: str) -> str:
    """Return by how much ranks differ from full heads of a shorter context, at equal loss on the windows."""
    table = kept("equal_loss_controls").equal_loss.where(less="equal loss on the windows, shorter context")
    return _range(table.all(measure, truth=truth, kind="family"))


# What other studies let the article say.
no_method_beats_min_p = not any(
    gain > 0 and gain.p < SIGNIFICANT for gain in bytewise.all(less="min-p", decoding=list(WITH_SETTINGS))
)
bat_less_min_p = bytewise.all(less="min-p", decoding="bat")
no_costly_head_leaks_less = not any(
    number.high < 0 and number.p < SIGNIFICANT for number in after_400_steps.at_equal_operations.all("tto", kind=COSTLY)
)


# The thesis's tables beside ours.
def _means(table: Table, **keys: object) -> Quantity:
    return of_seeds(table.column("value", **keys))


def _ours(mean: Quantity, decimals: int = 3) -> str:
    """Return a mean over seeds, and half of its 95 % interval."""
    return f"{printed(mean.value, decimals)}{PLUS_MINUS}{printed(_half(mean), decimals)}"


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


def their_fall(truth: str) -> float:
    """Return by how much TTO of the thesis's rank 4 stands above that of its full rank."""
    theirs = published.table_4_1.by("metric", "model", "truth")
    return theirs("tto", RANKS[0], THEIRS[truth]) - theirs("tto", THEIR_FULL, THEIRS[truth])


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
        half = f"{PLUS_MINUS}{printed(scale * _half(mean), OF_SAMPLES[measure])}" if "low" in mean.row else ""
        cells.append(printed(scale * mean.value, OF_SAMPLES[measure]) + half)
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
def _verdict_rows() -> Iterator[list[str]]:
    for row in together.frame.to_dict("records"):
        by_truth = [sentences.column("verdict", id=row["id"], truth=truth) for truth in TRUTHS]
        mark = "† " if isinstance(row["cannot_fail"], str) else ""
        yield [
            f"{mark}{row['statement']} ({row['place']})",
            verdict_with_counts(row),
            *(found[0] if found else NONE for found in by_truth),
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


def _against(row: Mapping[str, Any]) -> str:
    """Return the comparison that decides against a sentence, and where the sentence expects it."""
    said = least_certain(row).replace("against truth", "by the own truth").replace("against smollm2", "by SmolLM2")
    bounds = [(word, row[of]) for word, of in (("above", "above"), ("below", "below")) if math.isfinite(row[of])]
    expected = " and ".join(f"{word} {bound:.3g}" for word, bound in bounds)
    return f"{said}; expected {expected}" if expected else said


def _contradicted_rows() -> Iterator[list[str]]:
    found = counted_sentences.where(verdict="contradicted").frame
    for row in found.to_dict("records"):
        yield [f"{row['statement']} ({row['place']})", _against(row), row["published_verdict"]]


contradicted_rows = list(_contradicted_rows())
number_that_hold = verdicts["holds"] + verdicts["holds in part"]
contradicted_here_and_there = sum(row[-1] == "contradicted" for row in contradicted_rows)
