"""Fixtures that another room made first."""

from integrations.conftest import *  # noqa: F403
from networks.conftest import *  # noqa: F403
