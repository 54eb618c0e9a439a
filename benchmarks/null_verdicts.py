"""How often verdicts over seeds are wrong by chance, and how often they tell what was measured.

Run from anywhere: ``python benchmarks/null_verdicts.py [--tables 200]``. It makes tables like the kept ones of
resources/studies/seeds, gradient and murugan in which arms are equal, or differ by just the bound of a claim,
and counts the verdicts. A claim at its bound is neither right nor wrong, so "holds" and "does not hold" should each
come out in at most 5 % of tables. Of each claim there are tables with all comparisons at their bounds, when one is most
likely to speak against it by chance, and with one at its bound and the others far beyond, when the claim is most likely
to hold by chance. The second part has the verdicts where arms differ as they were measured.

A made seed is a mix of the deviations of the kept seeds from the mean of their arm, with normal weights, so that arms
vary and go together as in the kept tables. Exits with 1 if a verdict is wrong in more than 5 %.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))

from oversmoothing.claims.comparison import Chance, Value, compare
from oversmoothing.claims.members import Member
from oversmoothing.claims.rank_order import groups_of_ranks, rank_order
from oversmoothing.claims.verdict import FAILS, HOLDS, judge, judge_claim

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS
from oversmoothing.tables.record import read_record
from studies.across_seeds.claims import all_oversmooth
from studies.across_seeds.table import FLOOR, STEP, across_table, pseudo_values
from studies.paired_ranks.dispute import ALIKE, DISPUTE, PREDICTS, SLIGHT, SUPPRESSED, Arms
from studies.paired_ranks.gradient import mean_shares
from studies.paired_ranks.paired import SLOWDOWN, from_record

ROOT = Path(__file__).resolve().parents[1]
RANKS = (4, 8, 16)
FULL = 32  # width of the kept study on gradients
AT_MOST = 0.05
FAR = 0.3  # beyond a bound, in nats or octaves
WITHIN = ("svd", "retrained")  # heads made from one training, beside its own
TESTS = {claim.id: claim.test for claim in DISPUTE}
UNDECIDED = "cannot tell"
Key = tuple[str, str, int]  # measure, kind, rank
Means = Mapping[Key, float]
Make = Callable[[np.random.Generator], str]  # from random numbers to a verdict


def main(tables: int) -> None:
    """Print a line per verdict and null; exit with 1 if one is wrong too often."""
    print(f"{tables} tables each; verdicts in % of them")
    print(f"{'verdict':36}{'null':46}{'holds':>7}{'does not hold':>15}")
    worst = 0.0
    for i, (name, null, make) in enumerate(nulls()):
        counts = counted(make, tables, i)
        shares = [counts[verdict] / tables for verdict in (HOLDS, FAILS)]
        worst = max(worst, *shares)
        print(f"{name:36}{null:46}{100 * shares[0]:7.1f}{100 * shares[1]:15.1f}", flush=True)
    print(f"worst: {100 * worst:.1f} %\n\n{'verdict':36}{'as measured':46}{'holds':>7}{'does not hold':>15}")
    for i, (name, how, make) in enumerate(measured()):
        counts = counted(make, tables, 1000 + i)
        print(f"{name:36}{how:46}{100 * counts[HOLDS] / tables:7.1f}{100 * counts[FAILS] / tables:15.1f}", flush=True)
    sys.exit(worst > AT_MOST)


def counted(make: Make, tables: int, seed: int) -> Counter:
    """Count the verdicts of so many made tables."""
    draw = np.random.default_rng([seed, 7])
    return Counter(make(draw) for _ in range(tables))


def nulls() -> Iterator[tuple[str, str, Make]]:
    """Yield each verdict, what its null is, and how a table of it is made and judged."""
    kept = Dispute()
    for arms in (kept, Starts()):
        for claim, (at, ranks) in arms.bounds().items():
            yield claim, "all at the bound", partial(arms.verdict, claim, joined(at, ranks, ()))
            if len(ranks) > 1:
                yield claim, "one at the bound", partial(arms.verdict, claim, joined(at, ranks, ranks[1:]))
    yield "share-does-not-predict", "r at the bound", partial(kept.correlated, PREDICTS)
    yield from kept.within_one_training()
    seeds = Seeds()
    equal = dict.fromkeys(seeds.ranks, 0.12)
    lowest_apart = equal | {seeds.ranks[0]: 0.35}
    two_equal = seeds.means | {seeds.ranks[-2]: seeds.means[seeds.ranks[-1]]}
    yield "rank order, five seeds", "equal arms", lambda draw: seeds.order(seeds.made(equal, draw))
    yield "rank order, five seeds", "shuffled ranks", lambda draw: seeds.order(seeds.shuffled(draw))
    yield (
        "rank order, five seeds",
        "all equal but rank 4: a second step",
        lambda draw: seeds.order(seeds.made(lowest_apart, draw), groups=2),
    )
    yield "rank order, one seed", "equal arms", lambda draw: seeds.order(seeds.made(equal, draw)[:1])
    yield "across_seeds, every step above 0", "equal arms", lambda draw: seeds.steps(seeds.made(equal, draw))
    yield "across_seeds, every step above 0", "shuffled ranks", lambda draw: seeds.steps(seeds.shuffled(draw))
    yield (
        "across_seeds, every step above 0",
        "two equal, others as measured",
        lambda draw: seeds.steps(seeds.made(two_equal, draw)),
    )
    yield "across_seeds, one step", "equal arms", lambda draw: seeds.steps(seeds.made(equal, draw)[:, :2])
    yield "all-oversmooth", "all at the floor", lambda draw: seeds.above_floor(dict.fromkeys(seeds.ranks), draw)
    yield "all-oversmooth", "full rank at the floor", lambda draw: seeds.above_floor({seeds.ranks[-1]: None}, draw)


def measured() -> Iterator[tuple[str, str, Make]]:
    """Yield each verdict and how a table with the measured effects is made and judged."""
    kept, seeds = Dispute(), Seeds()
    for arms in (kept, Starts()):
        for claim in arms.bounds():
            yield claim, "", partial(arms.verdict, claim, {})
    yield "share-does-not-predict", "", partial(kept.correlated, kept.r)
    yield "share-does-not-predict", "shuffled arms", kept.shuffled
    yield (
        "rank order, five seeds",
        "all ranks apart",
        lambda draw: seeds.order(seeds.made(seeds.means, draw), groups=len(seeds.ranks) - 1),
    )
    yield "rank order, one seed", "an order of any groups", lambda draw: seeds.order(seeds.made(seeds.means, draw)[:1])
    yield "across_seeds, every step above 0", "", lambda draw: seeds.steps(seeds.made(seeds.means, draw))
    yield "all-oversmooth", "", lambda draw: seeds.above_floor({}, draw)


def mixed(deviations: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Return made seeds, float (seeds, arms), that covary as the kept ones do."""
    seeds = len(deviations)
    return draw.normal(size=(seeds, seeds)) @ deviations / np.sqrt(seeds - 1)


def joined(at: Callable[[Any, float], Means], ranks: tuple, far: tuple) -> dict[Key, float]:
    """Return the means at the bounds, or `FAR` beyond them at some of the ranks."""
    return {key: mean for rank in ranks for key, mean in at(rank, FAR if rank in far else 0.0).items()}


class Paired:
    """The kept differences from the full head by seed, and tables made like them."""

    study: str

    def __init__(self) -> None:
        kept = from_record(read_record(ROOT / "resources/studies" / self.study / "tables/paired_ranks_by_seed.csv"))
        slower = kept.measure == SLOWDOWN
        kept.loc[slower, "difference"] = np.log2(kept.difference[slower])
        self.kept = kept
        self.base = kept.groupby("measure").base.mean().to_dict()
        wide = kept.pivot_table(index="seed", columns=["measure", "kind", "rank"], values="difference", dropna=True)
        self.deviations = {key: (wide[key] - wide[key].mean()).to_numpy() for key in wide.dropna(axis=1)}
        self.means: dict[Key, float] = {key: float(wide[key].mean()) for key in self.deviations}
        self.gradient = pd.DataFrame()

    def verdict(self, claim: str, means: Means, draw: np.random.Generator) -> str:
        """Return the verdict on a claim where arms have these means, and the others their own."""
        measure = {"rank-slows-learning": SLOWDOWN, "equal-loss-equal-leak": "tto_at_loss"}.get(claim, "loss")
        keys = [key for key in self.deviations if key[0] == measure]
        noise = mixed(np.stack([self.deviations[key] for key in keys], axis=1), draw)
        values = np.stack([{**self.means, **means}[key] for key in keys])[:, None] + noise.T
        table = pd.DataFrame(keys, columns=["measure", "kind", "rank"]).loc[
            np.repeat(range(len(keys)), values.shape[1])
        ]
        table = table.reset_index(drop=True).assign(truth="", base=self.base[measure])
        table["seed"] = np.tile(range(values.shape[1]), len(keys))
        table["difference"] = (2**values if measure == SLOWDOWN else values).ravel()
        return judge_claim(TESTS[claim], Arms(table, self.gradient)).verdict


class Starts(Paired):
    """Those of heads W = A B that start small, as in Murugan (2026), or as large as a full head."""

    study = "murugan"

    def bounds(self) -> dict[str, tuple[Callable[[Any, float], Means], tuple]]:
        """Return of each claim the means at its bound, or so far beyond it, at a rank; and the ranks."""
        above = {
            "matched-rank-costs-more": ("matched", "backward"),
            "small-start-costs": ("plain", "matched"),
        }
        return {claim: (partial(self._above, one, other), RANKS) for claim, (one, other) in above.items()}

    def _above(self, one: str, other: str, rank: int, off: float) -> Means:
        return {("loss", one, rank): self.means["loss", other, rank] + off}


class Dispute(Paired):
    """Those of heads and gradients of a rank, with the shares of the gradient that a head lets through."""

    study = "gradient"

    def __init__(self) -> None:
        super().__init__()
        self.levels = self.kept.assign(level=self.kept.base + self.kept.difference).pivot_table(
            index="seed", columns=["measure", "kind", "rank"], values="level"
        )
        self.full = self.kept.pivot_table(index="seed", columns="measure", values="base")
        self.gradient = read_record(ROOT / "resources/studies" / self.study / "tables/gradient.csv")
        self.ends = mean_shares(self.gradient).groupby(["kind", "rank"])[["share", "loss"]].mean()
        self.r = float(self.ends.corr().loc["share", "loss"])
        ends = self.gradient[self.gradient.step == self.gradient.step.max()]
        shares = ends[(ends.kind == "family") & (ends["rank"] == FULL) & (ends.measure == "gradient_share")]
        self.shares = shares.value.to_numpy()

    def bounds(self) -> dict[str, tuple[Callable[[Any, float], Means], tuple]]:
        """Return of each claim the means at its bound, or so far beyond it, at a rank; and the ranks."""
        m, slight = self.means, SLIGHT * self.base["loss"]
        equal = [
            key for key in self.deviations if key[0] == "tto_at_loss" and key[1] in ("family", "plain", "backward")
        ]
        leak, start = ALIKE * self.base["tto_at_loss"], m["loss", "full_head", FULL]
        return {
            "gradient-is-compressed": (lambda r, off: {("share", "family", FULL): 1 - SUPPRESSED - off}, (FULL,)),
            "rank-slows-learning": (lambda r, off: {(SLOWDOWN, "plain", r): off}, RANKS),
            "backward-rank-costs": (lambda r, off: {("loss", "backward", r): off}, RANKS),
            "forward-rank-costs-more": (
                lambda r, off: {("loss", "plain", r): m["loss", "backward", r] + off},
                RANKS,
            ),
            "wide-retrained-heads-cost-nothing": (lambda r, off: {("loss", "retrained", r): slight - off}, RANKS[-1:]),
            "most-is-learning": (
                lambda r, off: {("loss", "plain", r): 0.8, ("loss", "retrained", r): 0.4 - off},
                RANKS,
            ),
            "most-sits-in-the-trunk": (
                lambda r, off: {("loss", "own_trunk", r): start + 0.8, ("loss", "full_head", r): start + 0.4 + off},
                RANKS,
            ),
            "equal-loss-equal-leak": (lambda key, off: {key: 0.0 if off else leak}, tuple(equal)),
        }

    def verdict(self, claim: str, means: Means, draw: np.random.Generator) -> str:
        """Return the verdict on a claim where arms have these means, and the others their own."""
        if claim == "gradient-is-compressed":
            return self._compressed(means.get(("share", "family", FULL), float(self.shares.mean())), draw)
        return super().verdict(claim, means, draw)

    def _compressed(self, share: float, draw: np.random.Generator) -> str:
        values = share + mixed(self.shares[:, None] - self.shares.mean(), draw)[:, 0]
        facts = {"kind": "family", "rank": FULL, "measure": "gradient_share", "step": 1}
        table = pd.DataFrame({"model": [f"{i}" for i in range(len(values))], "value": values}).assign(**facts)
        return judge_claim(TESTS["gradient-is-compressed"], Arms(pd.DataFrame(), table)).verdict

    def correlated(self, r: float, draw: np.random.Generator) -> str:
        """Return the verdict on shares and losses of as many arms as are kept, with this correlation."""
        x, y = draw.normal(size=(2, len(self.ends)))
        return self._predicts(x, r * x + np.sqrt(1 - r**2) * y)

    def shuffled(self, draw: np.random.Generator) -> str:
        """Return the verdict on the kept shares, each beside the loss of another arm."""
        return self._predicts(self.ends["share"].to_numpy(), draw.permutation(self.ends.loss.to_numpy()))

    def _predicts(self, shares: np.ndarray, losses: np.ndarray) -> str:
        facts = {"kind": "plain", "seed": 1, "step": 1, "rank": range(len(shares)), "model": range(len(shares))}
        measures = {"gradient_share": shares, "loss": losses}
        table = pd.concat(pd.DataFrame({**facts, "measure": name, "value": v}) for name, v in measures.items())
        return judge_claim(TESTS["share-does-not-predict"], Arms(pd.DataFrame(), table)).verdict

    def within_one_training(self) -> Iterator[tuple[str, str, Make]]:
        """Yield verdicts on two heads of one training that are equal over trainings."""
        shares = yaml.safe_load((ROOT / "config/config.yaml").read_text())["claims"]["run_to_run"]
        for kind, metric in {"losses": "loss", **{name: name for name in AGAINST_TRUTHS}}.items():
            for seeds, named in ((1, "one seed"), (5, "five seeds")):
                make = partial(self._equal_heads, kind, metric, shares[kind], seeds)
                yield f"within a training, {kind}", f"equal heads, {named}", make

    def _equal_heads(self, kind: str, metric: str, share: float, seeds: int, draw: np.random.Generator) -> str:
        heads = [self.full[metric], *(self.levels[key] for key in self.levels if key[0] == metric and key[1] in WITHIN)]
        a, b = (heads[i].to_numpy() for i in draw.choice(len(heads), 2, replace=False))
        difference = mixed((a - b - (a - b).mean())[:, None], draw)[:seeds, 0]
        names, level = tuple(f"s{seed}" for seed in range(seeds)), max(a.mean(), b.mean())
        one, other = (Value(tuple(level + x), names, kind) for x in (difference, 0 * difference))
        return judge([compare(one, other, "", Chance(0, 0, {kind: share}))]).verdict


class Seeds:
    """The kept scores by rank and seed, and those of full models against each other, and tables made like them."""

    def __init__(self) -> None:
        folder = ROOT / "resources/studies/seeds/tables"
        scores = read_record(folder / "oversmoothing.csv")
        scores = scores[scores.truth.notna() & scores.measure.isin(AGAINST_TRUTHS)]
        self.scores = {
            str(metric): part.pivot_table(index="seed", columns="rank", values="value")
            for metric, part in scores.groupby("measure")
        }
        tto = self.scores["tto"]
        self.ranks, self.means = [int(rank) for rank in tto], {int(rank): float(tto[rank].mean()) for rank in tto}
        self.deviations = (tto - tto.mean()).to_numpy()
        table = read_record(folder / "across_seeds.csv")
        full = table[(table.note == "full models") & table.model.notna()]
        self.floors = {
            metric: full[full.measure == f"{metric}{FLOOR}"].pivot_table(index="model", columns="truth", values="value")
            for metric in AGAINST_TRUTHS
        }

    def made(self, means: Mapping[int, float], draw: np.random.Generator) -> np.ndarray:
        """Return TTO by seed and rank with these means."""
        return np.array([means[rank] for rank in self.ranks]) + mixed(self.deviations, draw)

    def shuffled(self, draw: np.random.Generator) -> np.ndarray:
        """Return the kept TTO by seed, with ranks exchanged by chance within each."""
        return draw.permuted(self.scores["tto"].to_numpy(), axis=1)

    def order(self, tto: np.ndarray, groups: int = 1) -> str:
        """Return `HOLDS` if the headline parts the ranks into more groups than these by a falling order.

        `FAILS` if it does so by a rising one.
        """
        names = tuple(f"s{seed}" for seed in range(len(tto)))
        values = {rank: Value(tuple(column), names, "tto") for rank, column in zip(self.ranks, tto.T, strict=True)}
        parted, falling = groups_of_ranks(rank_order(values, Chance(0, 0, {"tto": 0.12})))
        if len(parted) <= groups:
            return UNDECIDED
        return HOLDS if falling else FAILS

    def steps(self, tto: np.ndarray) -> str:
        """Return `HOLDS` if the intervals of all steps of the table lie above 0, and `FAILS` if all lie below."""
        ranks = self.ranks[: tto.shape[1]]
        names = {(s, rank): f"bn{rank}-s{s}" for s in range(len(tto)) for rank in ranks}
        models = [
            {"model": name, "kind": "family", "rank": rank, "seed": s, "arm": f"bn{rank}"}
            for (s, rank), name in names.items()
        ]
        scores = pd.DataFrame(
            [
                {"model": name, "truth": "truth", "measure": "tto", "value": tto[s, ranks.index(rank)]}
                for (s, rank), name in names.items()
            ]
        )
        table = across_table(scores, pd.DataFrame(columns=["model"]), models, {})
        steps = table[table.measure == f"tto{STEP}"]
        return HOLDS if (steps.low > 0).all() else FAILS if (steps.high < 0).all() else UNDECIDED

    def above_floor(self, at_floor: Mapping[int, None], draw: np.random.Generator) -> str:
        """Return the verdict on `all-oversmooth` where these ranks score on average what the floor is."""
        family = [
            Member(f"rank {rank}", names := ("a", "b", "c", "d", "e"), names, max(rank, 4)) for rank in self.ranks
        ]
        weights = draw.normal(size=(5, 5)) / 2
        floors, scores = {}, {}
        for metric, kept in self.floors.items():
            square = kept.to_numpy()
            mean = np.nanmean(square)
            rows, columns = np.nanmean(square, axis=1) - mean, np.nanmean(square, axis=0) - mean
            rest = (square - mean - rows[:, None] - columns)[~np.eye(5, dtype=bool)]
            other = draw.normal(size=(5, 5)) / 2
            floors[metric] = mean + (other @ rows)[:, None] + other @ columns + draw.choice(rest, (5, 5))
            wide = self.scores[metric]
            noise = weights @ (wide - wide.mean()).to_numpy()
            for column, rank in enumerate(self.ranks):
                level = mean if rank in at_floor else wide[rank].mean()
                scores[metric, rank] = level + noise[:, column]
        chance = Chance(0, 0, {})
        evidence = SimpleNamespace(
            family=family,
            score=lambda metric, member: Value(tuple(scores[metric, member.rank]), names, metric),
            value=lambda _, member, metric: Value(tuple(pseudo_values(floors[metric])), names, metric),
            compare=lambda a, b, name: compare(a, b, name, chance),
        )
        return judge_claim(all_oversmooth, evidence).verdict


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tables", type=int, default=200, help="made of each null")
    main(parser.parse_args().tables)
