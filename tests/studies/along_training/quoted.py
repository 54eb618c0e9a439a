"""What docs/findings.md and docs/tokens.md quote of its table, without intervals."""

from kept_runs import Kept

from oversmoothing.numerics.equal_loss import at_loss

RANKS = (16, 64, 256)


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    table = Kept("subword").tables["along_training"]
    course = {
        rank: table[table["rank"] == rank].pivot_table(index="step", columns="measure", values="value")
        for rank in RANKS
    }
    starts, ends = ([course[rank].singular_entropy.iloc[at] for rank in (16, 256)] for at in (0, -1))
    words = "Gaussian matrix, {:.4f} at rank 16 and {:.4f} at rank 256, and rises to {:.3f} and {:.3f}"
    yield "docs/findings.md", words, [*starts, *ends]

    losses, leaks = course[256].loss.tolist(), course[256].tto.tolist()
    lasts = [course[rank].iloc[-1] for rank in (16, 64)]
    alike = [number for last in lasts for number in (at_loss(losses, leaks, last.loss), last.tto)]
    words = (
        "comes down to that of rank 16 its TTO is {:.3f}, and rank 16 has {:.3f}; at that of rank 64 it is {:.3f}, and"
    )
    yield "docs/tokens.md", words + " rank 64 has {:.3f}", alike
