"""Where the console has the cluster's secret from, and what it says when it has none."""

import pytest

from broker.zookeeper.znodes import SECRET, encode_secret
from console.cluster.zookeeper.masking import mask_secrets
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import GatewayError
from tests.fakes.zookeeper import FakeZooKeeper


@pytest.fixture
def zookeeper():
    return FakeZooKeeper(lambda: 0)


@pytest.fixture
def membership(zookeeper):
    return ConsoleMembership(lambda: zookeeper)


def test_the_secret_is_read_once_and_again_when_brokers_do_not_take_it(zookeeper, membership):
    zookeeper.put(SECRET, encode_secret(bytes(32)))
    first = membership()
    assert membership() is first
    membership.forget()
    assert membership() is not first


def test_brokers_of_another_kind_have_no_secret(membership, zookeeper):
    assert membership() is None
    zookeeper.put(SECRET, encode_secret(bytes(32)))
    assert membership() is not None, "the first broker has started since"


def test_a_secret_that_cannot_be_read_is_a_sentence(membership, zookeeper):
    zookeeper.put(SECRET, b"nonsense")
    with pytest.raises(GatewayError, match="secret of the cluster cannot be read"):
        membership()
    zookeeper.cut_off()
    with pytest.raises(GatewayError, match="members of the cluster only"):
        membership()


def test_the_secret_is_on_no_page():
    assert b"AAAA" in encode_secret(bytes(32))
    assert b"AAAA" not in (mask_secrets(SECRET, encode_secret(bytes(32))).value or b"")
