"""What docs/decoding.md quotes of the study's tables, without intervals as means have them."""

from kept_runs import Kept


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    kept = Kept("frontier/default")
    at = {"model": "bn16-s1337", "temperature": 1, "order": "temperature first", "measure": "area"}
    areas = [kept.cell("frontier", decoding=name, **at) for name in ("hindsight", "min-p", "oracle")]
    words = "has an area of {:.3f} at temperature 1, where min-p has {:.3f}, and the truth's own nucleus {:.3f}."
    yield "docs/decoding.md", words, areas
    table = kept.tables["frontier"]
    first = table[(table.measure == "gain") & (table.order == "cut first") & (table.temperature == 2)]
    behind = -first[first.decoding.isin(["epsilon", "typical"])].value
    yield "docs/decoding.md", "keep {:.2f} to {:.2f} less in all five", [behind.min(), behind.max()]
