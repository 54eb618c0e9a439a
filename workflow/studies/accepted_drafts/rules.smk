"""How often would each truth accept the tokens that a model drafts, both decoded in the same way?

Needs: the logits of the family and of the truths.
Makes: scores/acceptance/{model}.parquet; tables/acceptance.{csv,md,html,tex}.
"""

if KNOWN_INSIDE:

    rule acceptance:
        input:
            model=LOGITS,
            truths=expand(LOGITS, model=TRUTHS),
        output:
            f"{RESULTS}/scores/acceptance/{{model}}.parquet",
        wildcard_constraints:
            model=one_of(KNOWN_INSIDE),
        resources:
            **per_attempt(mem_mb=2000, runtime=60),
        params:
            settings=settings(decodings=config["decodings"], truths=TRUTHS),
            by_name=decoding_code(config["decodings"]),
        script:
            "measure.py"

    rule acceptance_table:
        input:
            scores=scores(["acceptance"], KNOWN_INSIDE),
        output:
            **table("acceptance", "6 Decoding", "Beyond the thesis: drafts that the truth accepts"),
        params:
            settings=settings(**config["statistics"], decodings=DECODED, models=compared_inside("family")),
        script:
            "show.py"
