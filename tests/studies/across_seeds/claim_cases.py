"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured


def of_equals(floor):
    """Three full models, a pair of which leaks `floor` against each other."""
    names = {f"bn288-s{seed}": seed for seed in (0, 1, 2)}
    scores, pairs = [], []
    for metric in ("tto", "nsmd", "tv", "kl"):
        scores += by_rank(metric, {4: around(0.3), 288: around(0.1)}, decoding="pure")
        pairs += [
            {"model": a, "truth": b, "measure": f"{metric}_floor", "value": floor + (names[a] + names[b]) / 1000}
            for a in names
            for b in names
            if a != b
        ]
    for row in scores:
        row["model"] = None
    run = measured((4, 288), oversmoothing=scores, across_seeds=pairs)
    table = run.table("oversmoothing")
    table["model"] = "bn" + table["rank"].astype(str) + "-s" + table.seed.astype(str)
    return run


def by_prompt(distance):
    """Ranks 16, 32 and 288 with these distances at a byte, and means .01 apart."""
    scores = by_rank("tto", {16: around(0.12), 32: around(0.11), 288: around(0.1)}, decoding="pure")
    apart = by_rank("tto_apart", {16: around(distance, 1e-4), 32: around(0.05, 1e-4)})
    return measured((16, 32, 288), oversmoothing=scores, across_seeds=apart)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "all-oversmooth": (of_equals(0.05), of_equals(0.2)),
    "depends-on-the-prompt": (by_prompt(0.05), by_prompt(0.01)),
}
