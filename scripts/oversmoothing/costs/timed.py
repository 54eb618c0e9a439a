"""What is timed, under which name, and how often."""

TIMED = {
    "tto": "TTO",
    "nsmd": "NSMD",
    "tv": "TV",
    "kl": "KL",
    "tbat": "TBAT",
    "tbat_published_method": "TBAT, one LP per token",
}
REPEATS = 25  # calls of one position, whose median counts; the linear programs run once
