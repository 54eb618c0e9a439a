"""The operations that are timed, their names, and the number of repeats."""

TIMED = {
    "tto": "TTO",
    "nsmd": "NSMD",
    "tv": "TV",
    "kl": "KL",
    "tbat": "TBAT",
    "tbat_published_method": "TBAT, one LP per token",
}
REPEATS = 25  # calls per position, of which the median is taken; the linear programs run once
