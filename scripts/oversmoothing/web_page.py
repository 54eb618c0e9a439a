"""Self-contained web pages."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from oversmoothing.store.atomic import atomic_path

TABLES = """
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { border-bottom-width: 2px; vertical-align: bottom; }
.n { text-align: right; white-space: nowrap; }
"""
STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8881; --bar: #0173b2; }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 110rem; margin: 0 auto; padding: 0 1rem 3rem; }
h1 { font-size: 1.5rem; }
h2 { border-top: 1px solid var(--line); padding-top: 1rem; font-size: 1.2rem; }
h3, h4 { margin: 1rem 0 .4rem; }
h4 { margin-top: 0; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: .8rem; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .8rem; min-width: 0; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.text i { font: 600 .72em/1 ui-monospace, monospace; border-radius: .25em; padding: .05em .3em; background: #8884; }
.bars { width: 100%; margin-bottom: .7rem; }
.bars td { padding: .1rem .3rem .1rem 0; border: 0; white-space: nowrap; }
.bars td:nth-child(2) { width: 100%; }
.bars span { display: block; height: .8em; background: var(--bar); border-radius: .15em; min-width: 1px; }
"""


def write_web_page(path: str | Path, title: str, body: Iterable[str], style: str = STYLE, head: str = "") -> None:
    """Write a web page that loads nothing; `head` are further elements of its head."""
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}{TABLES}</style>",
        *([head] if head else []),
        "</head>",
        "<body>",
        *body,
        "</body>",
        "</html>",
    ]
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
