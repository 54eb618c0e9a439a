"""What docs/bat.md quotes of its table, without intervals as means have them."""

from kept_runs import Kept, percent

PAGE = "docs/bat.md"
RANKS = (4, 8, 16, 32)
PLACES = ("", "nearest_")  # before measures: at the model, at q*
SETS = ("rejected", "rejected_nucleus", "rejected_mass", "accepted_unlikely")
INTERVAL = "{:.0f} % [{:.0f}, {:.0f}]"
HALF_UP = 1e-9  # shares of 400 positions are often halves of a percent, which format rounds to even numbers


def quoted():
    """Yield page, words with places, and the numbers that fill them."""
    default = Kept("default")

    def by_rank(measure, *ranks):
        return default.by_rank("bat_premise", measure, *ranks)

    for rank in (*RANKS, 288):
        model, nearest = (default.interval("bat_premise", f"{place}exceeded_nucleus", rank) for place in PLACES)
        at_nearest = {32: INTERVAL.replace("0f", "1f"), 288: "{:g}"}.get(rank, INTERVAL)
        shares = [share + HALF_UP * (share > 0) for share in percent([*model, *nearest])]
        yield PAGE, f"| {rank} | Q | Q | {INTERVAL} | {at_nearest} |", shares
    for rank in RANKS:
        sets = [by_rank(place + name, rank)[0] for place in PLACES for name in (SETS[0], SETS[-1])]
        yield PAGE, f"| {rank} | the model | {{:.1f}} | Q | Q | {{:g}} | | | q\\* | {{:.1f}} | Q | Q | {{:g}} |", sets
    both = [max(by_rank(place + name, 288)[0] for place in PLACES) for name in SETS]
    yield PAGE, "| 288 | both | {:g} | {:g} | {:g} | {:.1f} |", both

    yield PAGE, "The nucleus is the truth's, {:.1f} bytes on average", by_rank("nucleus", 4)
    yield PAGE, "{:.1f} bytes of a position have *p_i* < 1e-6", by_rank("unlikely", 4)
    anywhere = [*by_rank("exceeded", *RANKS, 288), *by_rank("nearest_exceeded", *RANKS)]
    yield PAGE, "the bound is broken at {:.0f} % of the positions and more", percent([min(anywhere)])
    otherwise = "BAT decides {:.1f}, {:.1f}, {:.1f} and {:.1f} bytes otherwise at ranks 4, 8, 16 and 32"
    yield PAGE, otherwise, by_rank("changed", *RANKS)
    yield PAGE, "most probable ones, keeps {:g} such bytes or fewer", [max(by_rank("top_accepted_unlikely", *RANKS))]
    yield PAGE, "BAT still rejects {:.3f} of the truth's probability", by_rank("nearest_rejected_mass", 4)

    masses, more = by_rank("rejected_mass", 4, 8), by_rank("more_lost", 4, 8)
    margin = default.cell("claims", "run_to_run", id="bat-rejects-more-than-a-cut")  # at rank 8
    words = (
        "such a number by {:.0f} %, as it does TBAT, and the differences are {:.0f} and {:.0f} % of what BAT rejects"
    )
    yield PAGE, words, percent([margin / masses[1], more[0] / masses[0], more[1] / masses[1]])
