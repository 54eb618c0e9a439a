"""Parts of JSON Schemas: values with a description, objects that have all of their properties and no other."""

from functools import partial
from typing import Any


def value(type: str, description: str, **limits: Any) -> dict[str, Any]:
    """Return the schema of a value."""
    return {"description": description, "type": type, **limits}


count = partial(value, "integer", minimum=0)
number = partial(value, "number", minimum=0)
share = partial(value, "number", minimum=0, maximum=1)
flag = partial(value, "boolean")
text = partial(value, "string")
array = partial(value, "array")


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that accepts null too."""
    return schema | {"type": [schema["type"], "null"]}


def fields(description: str, optional: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties and no other; those that `optional` names may be missing."""
    required = {"required": sorted(set(properties) - set(optional)), "additionalProperties": False}
    return value("object", description, properties=properties, **required)


def fields_or_null(description: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of such an object, or of null."""
    return or_null(fields(description, **properties))


def document(command: str, description: str, optional: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """Return the schema of a command's whole file."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"oversmoothing {command}"}
    return head | fields(description, optional, **properties)


FILES: dict[str, Any] = {
    "name": text("As given: a folder, or a name on the hub."),
    "folder": text("Folder of the files that were read."),
    "revision": or_null(text("On the hub; null for a folder.")),
    "commit": or_null(text("On the hub, also of a folder in its cache; null for any other folder.")),
}
RAN: dict[str, Any] = {
    "device": text("On which the model ran: cpu or cuda."),
    "precision": text("Of the trunk: bf16 or float32; the head is float32."),
}
BOS: dict[str, Any] = {
    "description": "Id that is put before every passage, or a list of several; null for none.",
    "type": ["integer", "array", "null"],
    "items": {"type": "integer"},
}
CAP: dict[str, Any] = or_null(
    number("c of logits c tanh(z / c), z being the head's; null where the logits are the head's.")
)
