"""Fixtures that another room made first."""

from cli.conftest import *  # noqa: F403
