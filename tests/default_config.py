"""The default config with the settings of all studies, as the workflow has it."""

import copy
from pathlib import Path

import yaml
from snakemake.utils import update_config

from plan import studies

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = yaml.safe_load((ROOT / "config/config.yaml").read_text())
studies.fill_in(DEFAULT)


def default(**changes):
    """Return the default with changes, laid over it as Snakemake does."""
    config = copy.deepcopy(DEFAULT)
    update_config(config, changes)
    return config
