"""What is left out of a library is there all the same for whoever imports it after us."""

import subprocess
import sys
from importlib import import_module

import pytest

CHECKSUMS = """
from broker.common.plain_crc32c import crc32c as ours
from crc32c import crc32c
assert ours(b"123456789") == crc32c(b"123456789") == 0xE3069283
assert ours(b"789", ours(b"123456")) == 0xE3069283
"""
SERVERS = """
import sys
import broker.common.plain_prometheus as plain
assert not {"http.server", "urllib.request", "wsgiref.simple_server"} & sys.modules.keys()
from http.server import HTTPServer
from urllib.request import build_opener
from socketserver import TCPServer
assert issubclass(HTTPServer, TCPServer) and build_opener().handlers
plain.generate_latest(plain.CollectorRegistry())
"""


@pytest.mark.parametrize("program", [CHECKSUMS, SERVERS])
def test_what_was_left_out_can_be_imported_afterwards(program):
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_was_imported_before_is_left_as_it_was():
    before = import_module("http.server")
    import_module("broker.common.plain_prometheus")
    assert import_module("http.server") is before
