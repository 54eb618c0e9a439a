"""The norm before the head of the model: what it multiplies and adds, found by what it does."""

from oversmoothing.data.tokens.vocabulary import AUTO, FAST, load_tokenizer, vocabulary_of
from oversmoothing.hub.manifest import asset_folder
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import setup
from oversmoothing.models.final_norm import norm_before_head
from oversmoothing.models.truths.load import load_token_lm
from oversmoothing.store.sealed_json import write_sealed


def main(job: Job) -> None:
    """Read the model's files; write whether its last norm `centres`, its gain (d,) and its bias (d,)."""
    settings, folder = job.params.settings, asset_folder(job.input.asset)
    vocabulary = vocabulary_of(load_tokenizer(folder / FAST), folder / FAST)
    model = load_token_lm(folder, settings["model"], vocabulary, AUTO, *setup(job.params.device, settings))
    norm = norm_before_head(model)
    if norm is None:
        raise UserError(
            f"real_head.model: {settings['model']} has no LayerNorm or RMSNorm directly before its head; write "
            "real_head.sphere.positions: null"
        )
    found = {"centres": norm.centres, "gain": norm.gain.tolist(), "bias": norm.bias.tolist()}
    write_sealed(job.output[0], {**found, "settings": settings})


if __name__ == "__main__":
    run(main)
