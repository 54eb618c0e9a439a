"""Evidence for the claims, and against them (tests/claims/)."""


def used(representation, rank, new):
    return "effective_rank", {"representation": representation, "rank": rank}, new


BROKEN = {  # what contradicts a claim that the printed means bear out
    "low-ranks-degraded": [used("probabilities", 8, 60.0)],
    "moderate-ranks-keep-probabilities": [used("pre", 32, 10.0)],
    "logits-stay-below-full": [used("logits", 128, 300.0)],
}
