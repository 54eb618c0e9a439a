"""The tokens of a study that does not read bytes: learned from the training split, or those of a tokenizer.

Needs: the corpus; for a tokenizer its manifest, of `snakemake assets`.
Makes: tokens/tokenizer.json and vocabulary.parquet; tokens/{train,validation}.bin (int32), tokens/manifest.json.
"""

if plan.tokens.learned(config):

    rule learn_tokens:
        input:
            training=ancient(RUN.corpus["train"]),
            manifest=RUN.manifest,
        output:
            **RUN.tokens,
        resources:
            **per_attempt(mem_mb=4000, runtime=30),
        params:
            settings=settings(**config["tokens"], bytes=plan.tokens.LEARNED_FROM),
        script:
            step("learn_tokens.py")


if plan.tokens.asset(config):

    rule read_tokens:
        input:
            manifest=RUN.manifest_of.format(asset=plan.tokens.asset(config)),
        output:
            **RUN.tokens,
        resources:
            **per_attempt(mem_mb=2000, runtime=10),
        script:
            step("read_tokens.py")


if not RUN.over_bytes:

    rule tokenise:
        input:
            **RUN.tokens,
            train=ancient(RUN.corpus["train"]),
            validation=ancient(RUN.corpus["validation"]),
            manifest=RUN.manifest,
        output:
            **RUN.read,
        resources:
            **per_attempt(mem_mb=2000, runtime=120),
        script:
            step("tokenise.py")
