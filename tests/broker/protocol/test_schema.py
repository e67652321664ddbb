"""What a declaration becomes."""

import pytest

from broker.common.errors import InvariantViolation
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from broker.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from broker.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from broker.protocol.schema import Message, Struct, array, bytes_, int32, string, wire


class Leaf(Struct):
    number: int = wire(int32, default=-1)


class Tree(Message, api=ApiKey.VOTE, versions=(2, 5), flexible_from=4):
    """A message to look at."""

    name: str = wire(string)
    leaf: Leaf = wire(Leaf)
    leaves: list[Leaf] = wire(array(Leaf))
    payload: bytes = wire(bytes_)


def test_constructor_takes_keywords_only():
    with pytest.raises(TypeError):
        Tree("name")
    with pytest.raises(TypeError):
        Tree(nam="typing error")


def test_attributes_are_the_declared_ones_only():
    tree = Tree()
    with pytest.raises(AttributeError):
        tree.nam = "typing error"
    assert not hasattr(tree, "__dict__")


def test_missing_values_are_declared_defaults_or_zeros():
    assert Tree() == Tree(name="", leaf=Leaf(number=-1), leaves=[], payload=b"")


def test_messages_do_not_share_their_lists_and_structs():
    one, other = Tree(), Tree()
    one.leaves.append(Leaf())
    one.leaf.number = 9
    assert other == Tree()


def test_messages_are_equal_when_all_fields_are():
    assert Tree(leaves=[Leaf(number=1)]) == Tree(leaves=[Leaf(number=1)])
    assert Tree(leaves=[Leaf(number=1)]) != Tree(leaves=[Leaf(number=2)])
    assert Leaf() != Tree()


def test_repr_shows_the_values_but_not_a_large_payload():
    assert repr(Tree(name="x", payload=b"ab")) == "Tree(name='x', leaf=Leaf(number=-1), leaves=[], payload=b'ab')"
    assert "payload=<1000 bytes>" in repr(Tree(payload=memoryview(bytes(1000))))


def test_class_knows_its_api_and_versions():
    assert (Tree.api, Tree.versions) == (ApiKey.VOTE, (2, 5))
    assert [version for version in range(2, 6) if Tree.is_flexible(version)] == [4, 5]


def test_null_default_of_a_field_that_is_never_null_is_our_fault():
    with pytest.raises(InvariantViolation, match="never nullable"):

        class Wrong(Struct):
            name: str = wire(string, default=None)


@pytest.mark.parametrize(
    "message",
    [
        SaslAuthenticateRequest(auth_bytes=b"hunter2"),
        SaslAuthenticateResponse(auth_bytes=b"hunter2"),
        AlterUserScramCredentialsRequest(
            upsertions=[ScramCredentialUpsertion(name="u", salt=b"hunter2", salted_password=b"hunter2")]
        ),
        AlterConfigsRequest(resources=[AlterConfigsResource(configs=[AlterableConfig(name="k", value="hunter2")])]),
    ],
    ids=lambda message: type(message).__name__,
)
def test_secrets_are_shown_by_no_repr(message):
    assert "hunter2" not in repr(message)
    assert "<secret>" in repr(message)
