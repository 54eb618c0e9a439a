"""What README and docs/findings.md quote of the study's table, without intervals as means have them."""

from kept_runs import Kept

LAWS = ("full", "rank8", "zeros")


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    law = Kept("law")
    at = {"kind": "family", "rank": 288, "sequences": 1800}
    hidden = [
        -100
        * law.cell("known_law", measure="tto_bias", law=name, **at)
        / law.cell("known_law", measure="tto", truth="law", law=name, **at)
        for name in LAWS
    ]
    words = "it hides {:.0f} % of TTO under `code`, {:.0f} % under `code` and {:.0f} % under `code`."
    yield "docs/findings.md", words, hidden
    yield "README.md", "at full rank, {:.0f} % of it", hidden[:1]

    def forces(law_name, rank, sequences=1800, truth="law"):
        at = {"law": law_name, "rank": rank, "sequences": sequences, "truth": truth, "kind": "family"}
        forced, kl = (law.cell("known_law", measure=measure, **at) for measure in ("forced", "kl"))
        return forced, 100 * forced / kl

    grown = [forces("full", rank, text)[1] for rank in (4, 16) for text in (1800, 7200)]
    words = "at rank 4 from {:.0f} to {:.0f} %, at rank 16 from {:.0f} to {:.0f} %."
    yield "docs/findings.md", words, grown
    beside = [forces("full", 8, truth=truth)[1] for truth in ("law", "stand-ins")]
    yield "docs/findings.md", "under `code` {:.0f} % at rank 8 against the law, and {:.0f} % against stand-ins.", beside
    of = law.cell("known_law", measure="tv_excess", truth="law", law="rank8", rank=4, kind="family", sequences=1800)
    yield "docs/findings.md", "at most by Q of {:.3f} under `code`", [of]
    yield "docs/findings.md", "there by Q of {:.3f}.", [forces("rank8", 4)[0]]
