"""Pages are what `make docs` writes, and every number in them comes from a table or is listed here as no result."""

import re

import pytest

from oversmoothing.commands.one_head.size import SHIPPED
from schemas.describe import ROOT, SOURCES, needed_ranks, pages, rendered

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)? %|(?<![\w.,])-?\d+\.\d+")
NO_RESULTS = {  # settings, sizes, definitions, citations, what a test has, and tables of the thesis
    "README": """
        Python 3.11 to 3.13; equal_loss, 0.007); at most 0.007 more; above 0.007 (six; equal_loss.low > 0.007
        _trunk, 0.01); at_32[:1], 0.01); 0.1 nats; 95 %; 90 %
        """,
    "api": "version 1.0 promises",
    "architecture": "",
    "article": """
        (4.1.1); (4.2); Table 3.1; Table 4.1; Table 4.2; Table 5.3; Table 6.1; Table 7.1; Table 7.3; Figure 2.1
        learn from 0.9 MB; reads 0.9 MB; hold 0.9 of; hold 0.9 @; 1.25; Temperature 0.8; 0.0003; 0.001; learned; 0.1
        above 0.2; 95 %; at 5 %; less than 0.01; within 0.015; -0.015, 0.015); 100 %; _trunk, 0.01); called 0.01 nats
        16 contain 0.01; )], 0.01)
        """,
    "bat": "1.25; 95 %; 0.001 was asked; 1.2e-10",
    "bytes": "0.8 and 1.25; at temperature 0.8; at 1.25; < 0.63; 0.15)",
    "cluster": "",
    "decoding": "1.5; 0.7; 0.95; 90 %; 5 %",
    "expectations": """
        0.01; 0.015; 63 %; 0.63; 0.15; 62 and 46 %; 27 and 13 %; 0.27; 0.13; 0.012
        0.006; 0.096; 0.192; by -0.043; 0.8; 0.03; 1.25; about 0.10; 0.09; 75 to 90 %; 65 to 80 %; 0.65; 0.80
        60 %; 45 %; , 0.6); , 0.45); 0.05; 3.5; 2.5; more than 0.4 nats; less than 3 %; 80 %; 0.5; 1 %; 0.1 nats
        0.001 nats; between 0.4; 0.43 held out
        0.02; over 0.007 more; leaks_by_real_truths, 0.007)
        """,
    "findings": """
        95 %; -0.01; 0.03)); 0.26)); 1.25; temperature 1.5; (4), 0.6); (4), 0.83); (8), 0.37); (8), 0.6); 100 %
        equal_loss, 0.007); at most 0.007 more; < 0.02; _trunk, 0.01); > 0.01; above 0.01 nats
        below 0.01; 0 and 0.01; at_32[1:], 0.01); a rate of 0.01; 0.8; 0.2 <; < 0.3
        0.33 <; < 0.4; over 0.4; 0.1 nats; 0.01 nats; 0.001 nats
        2212.09803; 2403.15796; 2210.14199; 2203.12788; 2509.26643; 2510.24966
        """,
    "forced": "> 0.5; < 0.2; < 0.9; 95 %; hold 0.9; for 0.1, 0.01 and 0.001 nats; no more than 0.001 nats",
    "lifting": """
        95 %; 0.024; 0.048; < 0.05; < 0.001; below 0.001; -0.01 <; < 0.01; within 0.010; 0.665; 1.22; 1.44; 1.35; 1.53
        """,
    "notebook": "",
    "paper": "Version 1.0; 90 % of the; 0.1 nats; 0.001 nats",
    "notes": """
        95 %; 0.95; δ 0.22; 98.5 %; 95 to 99 %; 0.625; 80 %; at most 1 %; matrix at 0.02; start at 0.02
        0.8; 1.25; loss is 10 %; -0.01); 0.01); arXiv 2602.20433; arXiv 2604.28036
        """,
    "replication": "0.9 MB; 1.8 MB; at 5 %; 0.7 %; arXiv 2404.07647",
    "reproducibility": "Tables 4.1 and 4.2; Tables 6.1; (7.1); 6.8 MB; 0.4 MB",
    "results": """
        Table 3.1; Tables 4.1, 4.2; Tables 5.1, 5.2; Table 6.1; Tables 7.1, 7.2; 95 %; Figure 2.1; Figure 3.1
        """,
    "scales": """
        2.8b; 8.5 minutes; 10.5 (18); 1.4 times; 1.4e+17; 0.8; 0.2; 0.0 GB; 1.3e+20; 18.8 GB; 1.3 GB; 1.1 GB
        2.7 GB
        rate of 0.00003; rate of 0.0001; a logit by up to 0.05; a position by up to 0.01; TV by 0.003
        KL by 0.008 nats; by less than 0.0001; 1.10 times; 0.98 times
        """,
    "tokens": "2.8b; 0.01",
}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_is_what_its_source_and_the_tables_make(page):
    assert page.read_text() == rendered(page), "run `make docs`; numbers are edited in docs/source"


def test_the_table_of_the_command_size_is_that_of_the_kept_run():
    assert (SHIPPED.read_text() if SHIPPED.is_file() else None) == needed_ranks(), "run `make docs`"


def words(path):
    """A source, or a page without one, on one line; without code, links and, in Typst, lengths."""
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"\b[\d.]+(fr|pt|em)\b", "", text) if path.suffix == ".typ" else text
    text = re.sub(r"`[^`]*`", "`code`", re.sub(r"\]\([^)]*\)", "]", re.sub(r"\{%|%\}", "", text)))
    return " ".join(text.split())


@pytest.mark.parametrize("name", NO_RESULTS)
def test_no_other_number_is_typed_in(name):
    sources = list(SOURCES.rglob(f"{name}.*"))
    left = words(sources[0] if sources else ROOT / f"docs/{name}.md")
    for known in re.split(r"; |\n +", NO_RESULTS[name].strip()):
        left, count = re.subn(rf"(?<![\d.]){re.escape(known)}(?!\d)", "", left)
        assert count, known
    assert NUMBER.findall(left) == []


def test_all_pages_are_tested():
    assert NO_RESULTS.keys() == {path.stem for path in [*ROOT.glob("docs/*.md"), *pages()]}
