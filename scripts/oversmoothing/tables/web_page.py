"""Self-contained web pages, from templates that lie beside the modules that fill them."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from oversmoothing.store.atomic import atomic_path

TEMPLATES = Environment(
    loader=PackageLoader("oversmoothing", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def web_page(template: str, **values: Any) -> str:
    """Return a web page that loads nothing: a template, its path relative to the library's, with escaped values."""
    return TEMPLATES.get_template(template).render(values)


def write_web_page(path: str | Path, template: str, **values: Any) -> None:
    """Write a web page (see `web_page`)."""
    text = web_page(template, **values)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
