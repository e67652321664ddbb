"""The server of the console's pages: the one that answers for registry and Connect."""

from broker.common.http_server import RestingServer
from broker.common.plain_uvicorn import uvicorn
from broker.common.punctual_http import PunctualProtocol

__all__ = ["PunctualProtocol", "RestingServer", "uvicorn"]
