"""Evidence for the claims, and against them (tests/claims/)."""

from made_tables import measured


def of_laws(above):
    rows = [
        {"model": f"w16-s{seed}", "arm": "w16", "measure": measure, "value": value + seed / 100}
        for seed in (1, 2, 3)
        for measure, value in (("above_last", above), ("fitted", -seed / 100), ("parameters", 10.0))
    ]
    rows += [
        {"model": "big", "arm": "big", "measure": name, "value": value}
        for name, value in (("fitted", 1.0), ("parameters", 99.0))
    ]
    return measured((16,), saturation=rows)


CASES = {  # evidence under which a claim holds, and evidence that contradicts it
    "small-models-end-above-the-fit": (of_laws(8.0), of_laws(-8.0))
}
UNFITTED = measured((4,), saturation=[{"model": "a", "measure": "fitted", "value": 0.0}])
NO_EVIDENCE = [("small-models-end-above-the-fit", UNFITTED, "fitted on no model")]  # and what the note says
