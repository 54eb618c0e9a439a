"""Does a head with far fewer dimensions than symbols slow learning, or does the number of draws (Godey and Artzi 2026)?

Needs: nothing; the language is drawn.
Makes: repeated_symbols/{arm}.parquet; tables/repeated_symbols.{csv,md,html,tex};
figures/repeated_symbols.{png,svg,pdf}.
"""

from studies.repeated_symbols import plan as repeated_symbols
from studies.repeated_symbols.arms import ARMS as REPEATING

if config["repeated_symbols"]["vocabularies"]:

    rule repeat_symbols:
        output:
            f"{RESULTS}/repeated_symbols/{{arm}}.parquet",
        log:
            f"{RESULTS}/logs/repeat_symbols/{{arm}}.log",
        wildcard_constraints:
            arm=one_of(REPEATING),
        resources:
            **per_attempt(mem_mb=3000, runtime=60),
        params:
            settings=repeated_symbols.training_settings(config),
        script:
            "measure.py"

    rule repeated_symbols_table:
        input:
            expand(f"{RESULTS}/repeated_symbols/{{arm}}.parquet", arm=REPEATING),
        output:
            **table("repeated_symbols", "9 Gradient", "Repeated symbols: draws and steps needed"),
            **figure("repeated_symbols", "9 Gradient", "Repeated symbols: losses by draws"),
        params:
            settings=repeated_symbols.training_settings(config),
        script:
            "show.py"
