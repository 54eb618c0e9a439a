"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import around, by_rank, measured

BYTES = range(20)  # the most frequent first; the last ten are the rarest
COMMON = sum(100 - b for b in range(10)) / sum(100 - b for b in BYTES)  # share of the first ten in the text
FEW, MANY = (0.2,) * 3 + (0.0,) * 17, (COMMON / 10,) * 10 + (0.002,) * 10  # how often each is predicted


def of_bytes(rare=0.3, frequent=0.1, low=0.1, lowest=FEW, best=MANY):
    """Twenty bytes; rank 288 has the lower NSMD at all of them, by `low`; what ranks 4 and 288 predict."""
    text = [{"class": b, "measure": "occurrences", "value": 100.0 - b, "kind": None, "rank": None} for b in BYTES]
    total = sum(row["value"] for row in text)
    text += [{**row, "measure": "share", "value": row["value"] / total} for row in text]
    nsmd = [
        {"class": b, "measure": "nsmd", "rank": rank, "truth": "real", "value": around(mean), "n": 100, "sd": 0.1}
        | {"low": mean - 0.01, "high": mean + 0.01}
        for rank, more in ((4, low), (288, 0))
        for b in BYTES
        for mean in [(rare if b > 9 else frequent) + more + b / 1000 * (1 if rare > frequent else -1)]
    ]
    chosen = [
        {"class": b, "measure": "argmax_share", "rank": rank, "value": around(shares[b], shares[b] / 1000)}
        for rank, shares in ((4, lowest), (288, best))
        for b in BYTES
    ]
    chosen += [{**row, "rank": None, "kind": "truth", "model": "real", "value": 0.01} for row in chosen[20:]]
    scores = by_rank("nsmd", {4: around(0.3), 288: around(0.1)}, decoding="pure", truth="real")
    losses = [{"measure": "loss", "kind": "truth", "model": "real", "value": 1.0}]
    return measured((4, 288), bytes=text + nsmd + chosen, oversmoothing=scores, losses=losses)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "rare-bytes-oversmoothed-more": (of_bytes(), of_bytes(rare=0.1, frequent=0.3)),
    "lowest-rank-worse-at-every-byte": (of_bytes(), of_bytes(low=-0.05)),
    "better-models-predict-the-rarest-more": (of_bytes(), of_bytes(lowest=(0.0,) * 10 + (0.05,) * 10)),
    "lowest-rank-predicts-the-commonest-too-often": (
        of_bytes(lowest=(0.08,) * 10 + FEW[10:]),
        of_bytes(lowest=(0.01,) * 20),
    ),
    "more-bytes-are-predicted": (of_bytes(), of_bytes(lowest=MANY, best=FEW)),
    "frequent-bytes-are-predicted-first": (of_bytes(), of_bytes(lowest=FEW[::-1])),
}
OWN_ALONE = measured(
    (4, 288),
    oversmoothing=by_rank("nsmd", {4: around(0.3)}, decoding="pure", truth="own"),
    losses=[{"measure": "validation_loss", "kind": "truth", "model": "own", "value": 1.0}],
)
NO_EVIDENCE = [("rare-bytes-oversmoothed-more", OWN_ALONE, "no truth was trained elsewhere")]
