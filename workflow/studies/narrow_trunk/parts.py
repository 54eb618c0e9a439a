"""What of a model learns on, and what is measured of it, without PyTorch."""

HEAD, LAST_BLOCK, ALL = "head", "last_block", "all"  # the parts, each within the next
SCRATCH = "scratch"  # in place of a part: a full model from the start, under the same schedule
LOSS = "loss"
