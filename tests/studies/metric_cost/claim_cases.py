"""Evidence for the claims, and against them (tests/claims/)."""

BROKEN = {"tbat-costs-more": [("metric_cost", {"measure": "tbat", "rank": 4}, 1e-4)]}  # what contradicts it
