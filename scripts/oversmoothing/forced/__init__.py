"""What a head forces: how much of its distance from a truth any model has that ends in the same head."""

from oversmoothing.forced.certificate import certify
from oversmoothing.forced.division import divide
from oversmoothing.forced.ellipsoid import OnEllipsoid, project_on_ellipsoid
from oversmoothing.forced.head import Head, prepare
from oversmoothing.forced.projection import Projection, project

__all__ = [  # noqa: RUF022 (the order of docs/api.md)
    "project",
    "certify",
    "project_on_ellipsoid",
    "prepare",
    "divide",
    "Projection",
    "OnEllipsoid",
    "Head",
]
