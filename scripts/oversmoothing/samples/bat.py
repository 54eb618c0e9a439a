"""BAT as a way to sample."""

from collections.abc import Mapping
from typing import Any

from oversmoothing.bat.decoding import bat_decoder
from oversmoothing.catalogue.decoders import parameters
from oversmoothing.jobs import UserError
from oversmoothing.predictor import Predictor
from oversmoothing.samples.generate import Sampler, drawn_from, with_step


def sampler(decoding: Mapping[str, Any], model: Predictor) -> Sampler:
    """Return the sampler for ``{name: bat, delta: 0.22}``; a `UserError` names an invalid value or head."""
    try:
        return with_step(drawn_from(bat_decoder(model.head.weight.detach().cpu().numpy(), *parameters(decoding))))
    except ValueError as error:
        raise UserError(f"decoding bat: {error}") from error
