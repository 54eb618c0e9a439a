"""The plan: what to build from a config, one module per subject; a module named like a chapter serves that chapter.

Pure Python and quick to import, because every job of a cluster run parses the workflow again.
"""

from plan import arms, assets, corpus, models, needs, pace, resources, samples, studies, tables, thesis, tokens
from plan.run import Run
from plan.settings import ConfigError, settings, wanted

__all__ = [
    "ConfigError",
    "Run",
    "arms",
    "assets",
    "corpus",
    "models",
    "needs",
    "pace",
    "resources",
    "samples",
    "settings",
]
__all__ += ["studies", "tables", "thesis", "tokens", "wanted"]
