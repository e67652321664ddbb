"""The authorities that a converter trusts are a file of the worker's host, held to where connectors may read."""

import pytest

from broker.connect.api import ConfigError
from broker.connect.converters.registry.settings import CONFIG
from broker.connect.plugins import paths

TRUST = "schema.registry.ssl.truststore.location"
PROPS = {"schema.registry.url": "https://registry:8081"}


@pytest.fixture
def held(tmp_path):
    paths.allow([str(tmp_path)])
    yield tmp_path
    paths.allow(None)


def test_a_truststore_outside_is_refused_and_one_inside_is_not(held):
    assert CONFIG.parse(PROPS | {TRUST: f"{held}/ca.pem"})[TRUST] == f"{held}/ca.pem"
    with pytest.raises(ConfigError, match="outside of what this worker allows"):
        CONFIG.parse(PROPS | {TRUST: "/etc/hostname"})


def test_none_is_no_file():
    assert CONFIG.parse(PROPS)[TRUST] is None
