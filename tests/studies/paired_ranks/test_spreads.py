"""How far two heads of one training are from each other, and two trainings: what config/README.md says of it."""

from itertools import combinations

import numpy as np
from default_config import DEFAULT
from kept_runs import ROOT

from oversmoothing.tables.record import read_record
from studies.paired_ranks.paired import from_record

SHARES = {"losses": "loss", "tto": "tto", "nsmd": "nsmd", "tv": "tv", "kl": "kl"}


def spreads(study, measure):
    """Sd of differences within a training and between two, as shares of the larger value; the former of themselves."""
    kept = from_record(read_record(ROOT / f"resources/studies/{study}/tables/paired_ranks_by_seed.csv"))
    kept = kept[kept.measure == measure].assign(level=kept.base + kept.difference)
    level = kept.pivot_table(index="seed", columns=["kind", "rank"], values="level")
    level["full", 0] = kept.groupby("seed").base.mean()
    heads = [level[key] for key in level if key[0] in ("full", "svd", "retrained")]
    pairs = [(a - b, max(a.mean(), b.mean())) for a, b in combinations(heads, 2)]
    of_one = [(level[key].std() / level[key].mean()) ** 2 for key in level if key[0] != "inside"]
    of_itself = [difference.std() / abs(difference.mean()) for difference, _ in pairs]
    return np.sqrt(np.mean([(d.std() / size) ** 2 for d, size in pairs])), np.sqrt(2 * np.mean(of_one)), of_itself


def test_the_page_has_the_spreads_within_one_training():
    page = (ROOT / "config/README.md").read_text().partition("### Between two values of one training")[2]
    ratios = []
    for kind, measure in SHARES.items():
        cells = []
        for study in ("gradient", "gradient_wide"):
            within, between, of_itself = spreads(study, measure)
            cells += [within, between]
            ratios += of_itself
        cells.append(DEFAULT["claims"]["run_to_run"][kind] / 1.96)
        assert f"| {kind} | {' | '.join(f'{cell:.3f}' for cell in cells)} |" in page
    said = f"anything from {100 * min(ratios):.1f} % of it to {max(ratios):.0f} times as much"
    assert said in " ".join(page.split())
