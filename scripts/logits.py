"""Logits and hidden states of one model over all windows."""

import logging

from tqdm import tqdm

from oversmoothing.data.windows import read_windows, window_tokens
from oversmoothing.jobs import Job, UserError, run
from oversmoothing.models.device import setup
from oversmoothing.models.inference import run_windows
from oversmoothing.models.logit_files import head_file, save_head, states_batch, states_schema
from oversmoothing.models.logits import hidden_schema, logits_schema, special_mass_facts
from oversmoothing.models.predictor import head_matrix, load_predictor
from oversmoothing.models.spectra import ALONE
from oversmoothing.store.parquet import open_writer
from oversmoothing.store.provenance import provenance

logger = logging.getLogger(__name__)


def main(job: Job) -> None:
    """Read a model and the windows; write logits and hidden states, one row group per window.

    With `settings["states"]`, a precision, the file of logits holds what enters the head, and the head lies beside it.
    """
    settings, name = job.params.settings, job.wildcards.model
    compute = setup(job.params.device, settings)
    model = load_predictor(job, compute)
    config, special = model.config, hasattr(model, "special_mass")
    windows, states = read_windows(job.input.windows), settings.get("states")
    longest = max(len(prompt) + len(scored) for prompt, scored in zip(*window_tokens(windows), strict=True))
    if longest - 1 > config.block:  # the last one is scored but not read
        raise UserError(
            f"{job.input.windows}: a window has {longest} {'tokens' if states else 'bytes'}, and the block of {name} "
            f"is {config.block}; shorten the windows, or the prompt"
        )
    made_by = provenance(settings, model=name, **compute.facts)
    logger.info("%s over %d windows on %s in %s", name, len(windows), *compute)
    masses = []
    schema = states_schema(config.entering, states, special) if states else logits_schema(config.vocabulary, special)
    of_head: dict[str, str] = {}
    if states:
        weight = head_matrix(model, name).detach().float().cpu().numpy()
        bias = None if model.head.bias is None else model.head.bias.detach().float().cpu().numpy()
        cap = getattr(model, "cap", None)
        of_head = save_head(head_file(job.output.logits), weight, bias, {**made_by, "head": ALONE}, cap)
    with (
        open_writer(job.output.logits, schema, made_by | of_head) as logits,
        open_writer(job.output.hidden, hidden_schema(config.width, config.entering), made_by) as hidden,
    ):
        passes = run_windows(model, windows, settings["batch"], compute.precision)
        for state in tqdm(passes, desc=name, total=len(windows), unit="window", disable=None):
            logits.write_batch(states_batch(state, states) if states else state.logits_batch())
            hidden.write_batch(state.hidden_batch())
            if state.special_mass is not None:
                masses.append(state.special_mass)
        if special:
            logits.add_key_value_metadata(facts := special_mass_facts(masses))
            logger.info("probability of special ids: %(special_mass_mean)s, %(special_mass_max)s at most", facts)


if __name__ == "__main__":
    run(main)
