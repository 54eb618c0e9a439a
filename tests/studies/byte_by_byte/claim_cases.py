"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured


def of_bytes(rare=0.3, frequent=0.1, argmax=0.0, low=0.1):
    """Twenty bytes; rank 288 has the lower NSMD at all of them, by `low`."""
    text = [{"class": b, "measure": "occurrences", "value": 100.0 - b, "kind": None, "rank": None} for b in range(20)]
    nsmd = [
        {"class": b, "measure": "nsmd", "rank": rank, "value": around((rare if b > 9 else frequent) + more)}
        for rank, more in ((4, low), (288, 0))
        for b in range(20)
    ]
    chosen = [{"class": b, "measure": "argmax_share", "rank": 4, "value": around(argmax, 0)} for b in range(20)]
    scores = by_rank("nsmd", {4: 0.3, 288: 0.1}, decoding="pure")
    return measured((4, 288), bytes=text + nsmd + chosen, oversmoothing=scores)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "rare-bytes-oversmoothed-more": (of_bytes(), of_bytes(rare=0.1, frequent=0.3)),
    "lowest-rank-worse-at-every-byte": (of_bytes(), of_bytes(low=-0.05)),
    "lowest-rank-never-predicts-the-rarest": (of_bytes(), of_bytes(argmax=0.01)),
}
