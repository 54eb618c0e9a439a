"""The operations that are timed, their names, and the number of repeats."""

from oversmoothing.scores.catalogue.metrics import AGAINST_TRUTHS, METRICS

TIMED = {name: METRICS[name].name for name in (*AGAINST_TRUTHS, "tbat")}
PUBLISHED_METHOD = "tbat_published_method"
TIMED[PUBLISHED_METHOD] = f"{TIMED['tbat']}, one LP per token"
REPEATS = 25  # calls per position, of which the median is taken; the linear programs run once
RATIO = "ratio"  # of the published method's time to ours
