"""DescribeUserScramCredentials and AlterUserScramCredentials: who may, and what each user is answered."""

import pytest

from broker.common.errors import ErrorCode
from broker.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from broker.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from broker.security.rights import UNLIMITED

GIVE = ScramCredentialUpsertion(name="u", mechanism=1, iterations=8192, salt=b"salt", salted_password=bytes(32))


def describing(*names: str) -> DescribeUserScramCredentialsRequest:
    return DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names] if names else None)


def altering(*upsertions, deletions=()) -> AlterUserScramCredentialsRequest:
    return AlterUserScramCredentialsRequest(deletions=list(deletions), upsertions=list(upsertions))


class Nobody(type(UNLIMITED)):
    def may(self, _operation, _kind, _name) -> bool:
        return False


@pytest.fixture
def ask_controller(served):
    async def ask(request):
        return await (await served.client()).ask(request, 0)

    served.controller.is_controller = True
    return ask


async def test_each_user_is_answered_alone_and_in_order(ask_controller):
    bad = ScramCredentialUpsertion(name="bad", mechanism=1, iterations=1, salt=b"s", salted_password=bytes(32))
    gone = ScramCredentialDeletion(name="gone", mechanism=1)
    answer = await ask_controller(altering(GIVE, bad, deletions=[gone]))
    assert {result.user: (result.error_code, result.error_message) for result in answer.results} == {
        "u": (0, None),
        "bad": (ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        "gone": (ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist"),
    }
    described = await ask_controller(describing("u", "twice", "twice", "", "nobody"))
    assert [(result.user, result.error_code) for result in described.results] == [
        ("", ErrorCode.RESOURCE_NOT_FOUND),
        ("nobody", ErrorCode.RESOURCE_NOT_FOUND),
        ("twice", ErrorCode.DUPLICATE_RESOURCE),
        ("u", ErrorCode.NONE),
    ]
    assert described.results[0].error_message == "Username must not be empty"
    assert [(info.mechanism, info.iterations) for info in described.results[3].credential_infos] == [(1, 8192)]


@pytest.mark.parametrize("users", [None, []])
async def test_all_who_have_one_are_described_and_nobody_else(served, ask_controller, users):
    await ask_controller(altering(GIVE))
    served.store.configs["quota-only"] = {"producer_byte_rate": "1"}
    answer = await ask_controller(DescribeUserScramCredentialsRequest(users=users))
    assert [result.user for result in answer.results] == ["u"]


async def test_only_the_controller_alters(served, ask_controller):
    served.controller.is_controller = False
    answer = await ask_controller(altering(GIVE, deletions=[ScramCredentialDeletion(name="v", mechanism=1)]))
    assert {result.user: result.error_code for result in answer.results} == dict.fromkeys(
        ("u", "v"), ErrorCode.NOT_CONTROLLER
    )
    assert "u" not in served.store.configs


@pytest.mark.parametrize("is_controller", [True, False])
async def test_who_may_not_hears_so(served, ask_controller, monkeypatch, is_controller):
    served.controller.is_controller = is_controller
    monkeypatch.setattr(type(UNLIMITED), "may", Nobody.may)
    expected = ErrorCode.CLUSTER_AUTHORIZATION_FAILED if is_controller else ErrorCode.NOT_CONTROLLER
    assert [result.error_code for result in (await ask_controller(altering(GIVE))).results] == [expected]
    assert (await ask_controller(describing())).error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert "u" not in served.store.configs
