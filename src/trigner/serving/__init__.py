"""The HTTP service and its web page."""

from trigner.serving.app import create_app
from trigner.serving.clients import Proxies
from trigner.serving.connections import ConnectionLimits
from trigner.serving.server import serve
from trigner.serving.settings import ServiceSettings

__all__ = [
    "ConnectionLimits",
    "Proxies",
    "ServiceSettings",
    "create_app",
    "serve",
]
