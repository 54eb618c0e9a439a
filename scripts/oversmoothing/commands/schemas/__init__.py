"""JSON Schemas of what commands write with ``--json``, a module for each, with the unit of every number."""
