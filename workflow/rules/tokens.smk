"""The tokens of a study that does not read bytes: learned from the training split, or those of a tokenizer.

Needs: the corpus; for a tokenizer its manifest, of `snakemake assets`.
Makes: tokens/tokenizer.json and vocabulary.parquet; tokens/{train,validation}.bin (int32), tokens/manifest.json.
"""

if plan.tokens.learned(config):

    rule learn_tokens:
        input:
            training=ancient(CORPUS["train"]),
            manifest=MANIFEST,
        output:
            **TOKENS,
        resources:
            **per_attempt(mem_mb=4000, runtime=30),
        params:
            settings=settings(**config["tokens"], bytes=plan.tokens.LEARNED_FROM),
        script:
            step("learn_tokens.py")


if plan.tokens.asset(config):

    rule read_tokens:
        input:
            manifest=MANIFEST_OF.format(asset=plan.tokens.asset(config)),
        output:
            **TOKENS,
        resources:
            **per_attempt(mem_mb=2000, runtime=10),
        script:
            step("read_tokens.py")


if not OVER_BYTES:

    rule tokenise:
        input:
            **TOKENS,
            train=ancient(CORPUS["train"]),
            validation=ancient(CORPUS["validation"]),
            manifest=MANIFEST,
        output:
            **READ,
        resources:
            **per_attempt(mem_mb=2000, runtime=120),
        script:
            step("tokenise.py")
