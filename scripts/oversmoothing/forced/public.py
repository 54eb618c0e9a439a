"""What `from oversmoothing import forced` offers; docs/api.md describes it. Steps import the modules instead."""

from oversmoothing.forced.certificate import certify
from oversmoothing.forced.division import divide
from oversmoothing.forced.ellipsoid import OnEllipsoid, project_on_ellipsoid
from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.projection import Projection, project

__all__ = [  # noqa: RUF022 (the order of the page)
    "project",
    "certify",
    "project_on_ellipsoid",
    "prepare",
    "divide",
    "Projection",
    "OnEllipsoid",
    "Head",
]
