"""Whose requests come by a connection, for what all clients share."""

from broker.common.shared_budget import ANONYMOUS, Owner
from broker.security.session import Session


def test_a_client_is_its_principal_and_its_address_also_after_another_login():
    session = Session("10.0.0.1", "SASL")
    assert session.owner == Owner(ANONYMOUS, "/10.0.0.1")
    session.principal = "User:alice"
    assert session.owner == Owner("User:alice", "/10.0.0.1")


def test_all_addresses_of_this_host_are_one():
    assert Session("127.0.0.1", "PLAINTEXT").owner == Session("127.8.8.8", "PLAINTEXT").owner
