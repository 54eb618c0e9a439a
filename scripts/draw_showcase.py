"""Write the showcase prompts as windows."""

from functools import partial

from oversmoothing.byte_names import Decode
from oversmoothing.corpus.showcase import showcase_windows
from oversmoothing.jobs import Job, run
from oversmoothing.store.parquet import write_table
from oversmoothing.store.provenance import provenance
from oversmoothing.tokens.text import encode_bytes
from oversmoothing.tokens.vocabulary import load_tokenizer, read_vocabulary
from oversmoothing.typical_prompt import typical_prompt


def main(job: Job) -> None:
    """Write one window for each prompt in `params.settings`; a prompt that is null is chosen by rule."""
    settings, tokens = job.params.settings, None
    decode: Decode = bytes
    if hasattr(job.input, "tokenizer"):
        tokenizer, vocabulary = load_tokenizer(job.input.tokenizer), read_vocabulary(job.input.vocabulary)
        tokens, decode = partial(encode_bytes, tokenizer, vocabulary), vocabulary.decode
    prompts = [
        (entry["prompt"].encode(), entry["next"].encode())
        if entry["prompt"] is not None
        else typical_prompt(job.input.windows, job.input.truth, job.input.family, decode)
        for entry in settings["prompts"]
    ]
    write_table(job.output[0], showcase_windows(prompts, tokens), provenance(settings))


if __name__ == "__main__":
    run(main)
