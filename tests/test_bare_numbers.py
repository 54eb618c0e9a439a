"""Each number without an interval that these pages quote is a cell of a kept table, or listed as no result.

What they quote of a study's tables is in ``quoted.py`` among its tests.
"""

import re
import runpy
from itertools import chain

import pytest
from kept_runs import QUOTED, ROOT, Kept, percent

FINDINGS, TOKENS = "docs/findings.md", "docs/tokens.md"
SECTIONS = {TOKENS: "## What came out"}  # of pages that are not tested whole
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)? %|(?<![\w.,])-?\d+\.\d+")
NO_RESULTS = {  # settings, sizes, citations, and what other tests know
    "README.md": (
        "Python 3.11 to 3.13",
        "6.8 MB to train on and 0.4 MB",
        "takes 2.2 GB",
        "all results 1.2 GB",
        "gives 90 %",
        "[95 % interval",
        "may differ by 12 %",  # claims.run_to_run, which test_run_to_run measures
        "62 % at rank 4, 8 % at 16",  # config/README.md has the seeds
        "arXiv 2603.10145",
        "arXiv 2608.16671",
    ),
    FINDINGS: (
        "Intervals are 95 %",
        "may differ by 12 %",
        "95 to 99 %, needs",
        "98.5 %",  # 1 - 768 / 50,257
        "(Murugan, 0.625,",
        "a chance of 80 %",
        "at most 1 %",
        "arXiv 2602.20433",
        "arXiv 2604.28036",
        "every matrix at 0.02",
        "start at 0.02 each",
        "the loss is 10 % of",
        "five seeds distinguish 0.05 to 0.07 nats between two arms, not 0.01",  # half widths of its intervals
        "On the 4 % of these contexts",  # of a text, in no table
        "TTO of full rank by 0.054",  # test_kept_seeds, as the next two
        "0.074 lower, of the 0.246",
        "levels within 0.005 of each other",
        "under top-p 0.95 (",
        "BAT (δ 0.22)",
    ),
    TOKENS: ("over bytes [12 %]",),
    "docs/forced.md": (
        "[95 % interval",
        "bytes that hold 0.9.",
        "smallest rank for 0.1, 0.01 and 0.001 nats",
        "| 4 | 0.849 | 0.540 | Q | 0.647 | 64 % | 80 % |",  # of a trial that is not kept, against another truth
        "| 8 | 0.444 | 0.132 | Q | 0.178 | 73 % | 42 % |",
        "| 16 | 0.283 | 0.0237 | Q | 0.0318 | 83 % | 12 % |",
        "| 32 | 0.246 | 0.0033 | Q | 0.0063 | 94 % | 3 % |",
        "0.11 to 0.14 nats to what the head of rank 4 forces in the trial",
        "of seed 1337 were known: 0.636, 0.084, 0.013, and of the cost 0.864 and 0.602",
        "0.818 to 0.874 at rank 4 and 0.538 to 0.607 at rank 8",  # over seeds: config/README.md has the table
        "0.20 nats elsewhere but 0.018 where fitted",  # of random truths, not kept
        "At 30 % of the positions of rank 4 (5 % of rank 32)",  # of positions, in no table
        "| 0.21 ms | 5e-13 nats | 3.6 ms |",  # benchmarks/forced_speed.py
        "| 0.50 ms |",
    ),
    "docs/bat.md": (
        "[95 % interval",
        "E = 1.25",
        "δ = ln 1.25",
        "took 0.2 to 0.6 s",  # benchmarks/bat_large_speed.py, as the next two
        "ended 0.005 and 0.014 wide, where 0.001 was asked",
        "Memory: 0.2 and 1.1 GB",
        "two of them 1.2e-10 apart",  # tests/bat/test_basis.py
        "rank 16 still gives 0.045",  # of a table that is not kept
    ),
    "docs/decoding.md": (
        "that hold 90 %)",
        "is below 5 %:",
        "under top-p 0.95,",
        "0.02 to 0.03 wide",  # of those with settings
        "1.5",  # temperatures, as the next
        "0.7",
    ),
    "docs/lifting.md": (
        "by 0.001 nats. It cost 0.050 nats",  # of the first run, which is not kept
        "The learning rate is the better of 0.024 and 0.048 in one trial",
        "Those at 0.048, the largest tried",
        "with 95 % intervals",
        "TaiLr, gamma 0.1 |",
        "MixCE, eta 0.5 |",
        "label smoothing, 0.05 |",
    ),
    "docs/scales.md": (
        "beside its 2.8b",
        "took 8.5 minutes (14 of processor) and the rest 10.5 (18)",  # of a run that is not kept
        "AVX2 alone take 1.4 times as long",
        "and 542 MB as a folder, 1.3 GB of memory and half a minute",  # of one conversion
        "1.4e+17 | 0.8 | 0.2 | 5 GB | 8 GB | 0.0 GB",  # tests/run/test_needs.py, as the next
        "1.3e+20 | 733 | 183 | 19 GB | 20 GB | 18.8 GB",
        "a minimum rate of 0.00003 and",
        "a minimum rate of 0.0001,",
        "a logit by up to 0.05, TTO and NSMD of a position by up to 0.01 (",  # of files that are not kept, as the next
        "TV by 0.003 and KL by 0.008 nats, and the means of all four by less than 0.0001",
    ),
}


def of_the_core():
    """Yield page, words with places, and the numbers of the kept tables that fill them."""
    default, subword = Kept("default"), Kept("subword")
    ranks = (4, 8, 16, 32, 288)
    kl, forced, shares = (default.by_rank("forced", name, *ranks) for name in ("kl", "forced", "share"))
    share, (over_tokens,) = percent(shares), percent(subword.by_rank("forced", "share", 64))
    tto = default.by_rank("oversmoothing", "tto", *ranks)
    published = default.by_rank("oversmoothing", "tto", *ranks, column="published")
    greedy, pure = (default.cell("decodings_pooled", measure="tto", rank=4, decoding=d) for d in ("greedy", "pure"))
    between = chain.from_iterable(zip(forced[1:4], kl[1:4], strict=True))

    yield "README.md", "KL divergence from it {:.0f} % at rank 4, and {:.0f} % at rank 32", [share[0], share[3]]
    at_ranks = "{:.0f} % of the KL to the truth at rank 4, {:.0f} % at rank 8, {:.0f} % at rank 16, {:.0f} % at rank 32"
    yield "README.md", at_ranks, share[:4]
    of = "of {:.3f} nats, {:.3f} of {:.3f}, {:.3f} of {:.3f}, {:.3f} of {:.3f}, and 0 of {:.3f} at full rank"
    yield "README.md", of, [kl[0], *between, kl[4]]
    yield "README.md", "TTO {:.3f} beside {:.3f}", [greedy, pure]
    yield "README.md", "rank 64 forces {:.0f} %", [over_tokens]
    yield "README.md", "forces {:.0f} % (one seed", share[:1]
    theirs = "thesis has {:.3f}, {:.3f}, {:.3f} and {:.3f} at ranks 4, 8, 16 and 32, and {:.3f}"
    yield FINDINGS, theirs, published
    ours = "has Q, {:.3f}, {:.3f}, {:.3f} and Q; greedy decoding leaves {:.3f} of the {:.3f}"
    yield FINDINGS, ours, [*tto[1:4], greedy, pure]
    of = "forces Q of {:.3f} nats, at rank 8 Q of {:.3f}, at rank 16 Q of {:.3f}, at rank 32 Q of {:.3f}, and"
    yield FINDINGS, of, kl[:4]


def over_tokens():
    """Yield those of the page on tokens."""
    subword = Kept("subword")
    shares = [percent(subword.interval("forced", "share", rank)) for rank in (16, 64, 256)]
    for share in shares:
        yield TOKENS, "| {:.0f} % [{:.0f}, {:.0f}] |", share
    yield TOKENS, "falls from {:.0f} % of KL at rank 16 to {:.0f} % at rank 256", [shares[0][0], shares[2][0]]
    forces = [subword.cell("forced", measure="forced", rank=256), *Kept("default").by_rank("forced", "forced", 32)]
    yield TOKENS, "still forces {:.3f} nats a token; over bytes one of rank 32 forces {:.3f} a byte", forces


def text(page):
    """What a page says in sentences, on one line, with ``Q`` for a mean with its interval."""
    whole = (ROOT / page).read_text()
    if page in SECTIONS:
        whole = whole.partition(SECTIONS[page])[2].partition("\n## ")[0]
    whole = re.sub(r"```.*?```", "", whole, flags=re.DOTALL)
    if page == "README.md":  # its table: test_kept_seeds
        whole = re.sub(r"^\| (rank|:---|\d+|floor) .*\n", "", whole, flags=re.MULTILINE)
    whole = re.sub(r"`[^`]*`", "`code`", re.sub(r"\]\([^)]*\)", "]", whole))
    return QUOTED.sub("Q", " ".join(whole.split()))


@pytest.fixture(scope="module")
def sentences():
    """Those that the kept tables make, by page."""
    of_studies = (runpy.run_path(str(path))["quoted"]() for path in sorted(ROOT.glob("tests/studies/*/quoted.py")))
    made = {page: [] for page in NO_RESULTS}
    for page, words, numbers in chain(of_the_core(), over_tokens(), *of_studies):
        made[page].append(words.format(*numbers))
    return made


@pytest.mark.parametrize("page", NO_RESULTS)
def test_the_pages_say_what_the_tables_say(page, sentences):
    assert [sentence for sentence in sentences[page] if sentence not in text(page)] == []


@pytest.mark.parametrize("page", NO_RESULTS)
def test_no_other_number_stands_there(page, sentences):
    left = text(page)
    for known in (*sentences[page], *NO_RESULTS[page]):
        assert known in left
        left = left.replace(known, "")
    assert NUMBER.findall(left) == []
