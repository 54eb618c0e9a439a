"""JSON Schema of what `oversmoothing compare-models --json` writes."""

from typing import Any

from oversmoothing.commands.schemas.parts import count, document, fields, fields_or_null, number, text, value
from oversmoothing.tables.record import NUMBER, TEXT, WHOLE
from oversmoothing.tables.record import SCHEMA as RECORD

KINDS = {TEXT: "string", WHOLE: "integer", NUMBER: "number"}


ROW = value(
    "object",
    "A number: the columns of docs/results.md that have a value.",
    properties={name: value(KINDS[column.type], column.meaning) for name, column in RECORD.items()},
    required=["table", "model", "measure", "unit"],
    additionalProperties=False,
)
NAMES: dict[str, Any] = {"name": text("In tables."), "hub": text("As given: a folder, a file or a name on the hub.")}
SCHEMA = document(
    "compare-models",
    "A language model beside another one, the truth, on a text.",
    model=fields("The model.", **NAMES),
    truth=fields("The model that it is measured against.", **NAMES),
    windows=fields(
        "Passages of the text; lengths are in `unit`.",
        count=count("Passages.", minimum=1),
        prompt=count("Length of each before the first scored position.", minimum=1),
        scored=count("Scored positions of each.", minimum=1),
    ),
    unit=text("token or byte."),
    tables=value("object", "The printed tables, by name.", additionalProperties={"type": "array", "items": ROW}),
    noise=fields_or_null(
        "KL of the model from itself, one passage at a time in float32; null over bytes.",
        mean=number("Over the positions, nats."),
        largest=number("Of a position, nats."),
        precision=text("In which the model ran: bf16 or float32."),
    ),
)
