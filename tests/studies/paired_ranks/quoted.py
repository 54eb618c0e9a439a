"""What README and docs/findings.md quote of the dispute's tables, without intervals as means have them."""

from kept_runs import ROOT, Kept, percent

from oversmoothing.store.layout import read_csv
from studies.paired_ranks.dispute import LEARNED

PAGE = "docs/findings.md"
RANKS = (4, 8, 16)


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    gradient, own = Kept("gradient"), Kept("murugan")
    kept = [percent(gradient.interval("closed_square", "loss_share", rank, kind="full_head")) for rank in RANKS[:2]]
    leaks = percent(gradient.by_rank("closed_square", "tto_share", *RANKS[:2], kind="full_head"))
    yield "README.md", "keeps {:.0f} % [{:.0f}, {:.0f}] of what the rank adds to the loss", kept[0]
    yield "README.md", "at rank 8 {:.0f} % [{:.0f}, {:.0f}]", kept[1]
    wide = percent(Kept("gradient_wide").interval("closed_square", "loss_share", 4, kind="full_head"))
    leaks_wide = percent(Kept("gradient_wide").interval("closed_square", "tto_share", 4, kind="full_head"))
    yield "README.md", "in a wider model {:.0f} % [{:.0f}, {:.0f}] at rank 4", wide
    yield PAGE, "nats, {:.0f} % [{:.0f}, {:.0f}], of TTO {:.0f} % [{:.0f}, {:.0f}]", [*wide, *leaks_wide]
    for rank, share in zip(RANKS, kept, strict=False):
        yield PAGE, f"| {rank} | Q | Q | Q | {{:.0f}} % [{{:.0f}}, {{:.0f}}] |", share
    both = [kept[0][0], kept[1][0], *leaks]
    yield PAGE, "loses {:.0f} and {:.0f} % of it, of TTO {:.0f} and {:.0f} %.", both

    published = read_csv(ROOT / "resources/published/murugan_2026.csv").set_index(["way", "rank"])
    theirs = published["mean"]
    excess = theirs["plain head from scratch, less gradient alone"]
    for rank in RANKS:
        yield PAGE, f"| {rank} | Q | Q | Q | Q | {{:.3f}} |", [excess[rank]]
    yield PAGE, "W = A B costs {:.2f} to {:.2f} nats more", [excess.min(), excess.max()]
    alone = published.loc[("gradient alone", 4), ["mean", "low", "high"]]
    yield PAGE, "His gradient alone costs {:.3f} nats at rank 4, {:.3f} to {:.3f},", alone
    yield PAGE, "ours in his setting {:.3f}:", own.by_rank("paired_ranks", "loss", 4, kind="backward")
    yield PAGE, "at rank 16 nor from his {:.3f}.", [excess[16]]

    pairs = gradient.tables["paired_ranks"]
    alike = pairs[(pairs.measure == "tto_at_loss") & pairs.kind.isin(LEARNED)].value
    (inside,) = pairs[(pairs.measure == "tto_at_loss") & (pairs.kind == "inside")].value
    yield PAGE, "column space (below; made at v0.5) has {:.3f} less TTO", [-inside]
    alone = [gradient.cell("closed_square", measure="loss_cost", kind="full_head", rank=rank) for rank in RANKS[:2]]
    yield PAGE, "it loses {:.3f} and {:.3f} (table)", alone
    yield PAGE, "differences lie between {:.3f} and {:.3f} (rank", [alike.min(), alike.max()]

    shares = gradient.tables["gradient"]
    shares = shares[shares.measure == "gradient_share"].sort_values("step")
    full, narrow = (
        shares[(shares.kind == kind) & (shares["rank"] == rank)].groupby("model").value
        for kind, rank in (("family", 32), ("plain", 4))
    )
    yield PAGE, "lets {:.0f} % of the squared gradient through", [100 * full.first().mean()]
    after = percent([full.last().mean(), narrow.last().mean()])
    yield PAGE, "after training it is {:.0f} %, and {:.0f} % for a head W = A B of rank 4", after
