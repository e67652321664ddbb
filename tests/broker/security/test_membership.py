"""Members know each other by the cluster's secret, at the address that was dialled; nobody else does."""

from itertools import count

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from broker.protocol.messages.sasl_handshake import SaslHandshakeResponse
from broker.security.login import login
from broker.security.membership import ClusterMembership
from broker.security.scram import AuthenticationError, ClientExchange, derive_keys
from tests.members import server_of_members

OURS = ClusterMembership(b"the secret of this cluster", map(str, count(10**20)).__next__)
OTHERS = ClusterMembership(b"the secret of another", map(str, count(10**21)).__next__)


def meet(dialling: ClientExchange, at: ClusterMembership, address: str = "b1:9092") -> None:
    server = server_of_members(at, address.__eq__)
    logged_in = server.respond(dialling.final(server.respond(dialling.first())))
    dialling.verify(logged_in.answer)
    assert (logged_in.principal, logged_in.is_member) == ("User:__cluster", True)


def test_members_know_each_other():
    meet(OURS.dial("b1", 9092), OURS)


def test_a_member_of_another_cluster_is_nobody():
    with pytest.raises(AuthenticationError, match="the server has another secret"):
        meet(OTHERS.dial("b1", 9092), OURS)


def test_the_cluster_is_the_only_user():
    with pytest.raises(AuthenticationError, match="does not know the password"):
        meet(ClientExchange("admin", lambda *_: derive_keys(b"", b"", 1), "nonce"), OURS)


def test_who_was_sent_to_a_wrong_address_proves_nothing_to_the_broker_that_was_meant():
    """An attacker whose address was told instead passes on every word."""
    with pytest.raises(AuthenticationError, match="meant another broker"):
        meet(OURS.dial("attacker.example", 6666), OURS)


def test_who_does_not_say_whom_it_means_is_refused():
    nobody_meant = ClientExchange("__cluster", OURS._known_keys, "nonce")
    with pytest.raises(AuthenticationError, match="meant another broker"):
        meet(nobody_meant, OURS)


@pytest.mark.parametrize(
    "answers",
    [
        [SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM)],
        [SaslHandshakeResponse(error_code=9999)],
        [SaslHandshakeResponse(), SaslAuthenticateResponse(error_code=ErrorCode.SASL_AUTHENTICATION_FAILED)],
        [SaslHandshakeResponse(), SaslAuthenticateResponse(auth_bytes=b"r=1,s=AAAA,i=4096")],
    ],
    ids=["no such mechanism", "unknown error", "refused", "another exchange"],
)
def test_a_broker_that_cannot_prove_itself_ends_the_login(answers):
    talk = login(OURS.dial("b1", 9092))
    next(talk)
    for answer in answers[:-1]:
        talk.send(answer)
    with pytest.raises(AuthenticationError):
        talk.send(answers[-1])
