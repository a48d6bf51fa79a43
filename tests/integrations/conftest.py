"""The stub of the Hub."""

from __future__ import annotations

from hub_stub import hub  # noqa: F401
