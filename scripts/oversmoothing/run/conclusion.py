"""What a finished run ends with, whoever started it: the main table, and where its page is."""

from pathlib import Path

from oversmoothing.printable import printable, printable_lines
from oversmoothing.tables.record import read_record
from oversmoothing.tables.score_tables import for_terminal

PAGE = "index.html"  # in the results folder
TOKENS = "tokens/vocabulary.parquet"  # of a study over tokens, which has no page


def conclusion(results: str | Path, table: bool, page: bool) -> str:
    """Return the main table as a terminal shows it, and where the page is or how to make one.

    `table` and `page` say whether the run made them: files of an earlier one may be of another config.
    """
    results = Path(results)
    shown = []
    if table:
        shown.append(printable_lines(for_terminal(read_record(results / "tables/oversmoothing.csv"))))
    place, folder = printable(str(results / PAGE)), printable(str(results))
    if page:
        shown.append(f"On a page, with what it means: {place}")
    elif not (results / TOKENS).is_file():
        shown.append(f"To put it on a page, {place}, with what it means: oversmoothing page {folder}")
    return "\n\n".join(shown)
