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
