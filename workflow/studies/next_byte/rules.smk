"""A few prompts: each model's distribution of the next byte, with the same metrics as for all windows.

Needs: `showcase` of the config; for a prompt that is null, the windows and the logits of the first truth and of the family.
Makes: showcase/windows.parquet. The rules of all texts make showcase/{logits,hidden,scores} (`texts_read` of the plan).
"""

from studies.next_byte import plan as next_byte

CHOSEN_FROM = {}  # the windows of which prompts that are null are chosen
if any(entry["prompt"] is None for entry in config["showcase"]):
    CHOSEN_FROM = {
        "windows": RUN.windows,
        "truth": RUN.logits.format(model=RUN.truths[0]),
        "family": RUN.of(RUN.logits, names(next_byte.of_first_seed(config), "family")),
    }


rule draw_showcase:
    input:
        **RUN.tokens,
        **CHOSEN_FROM,
    output:
        text_of({"text": next_byte.SHOWCASE}).windows,
    localrule: True
    params:
        settings=next_byte.window_settings(config),
    script:
        "prompts.py"
