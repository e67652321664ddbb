"""Credentials are what ZooKeeper says, also when it says nonsense, and are kept up to date."""

import pytest

from broker.runtime.security.credentials import UserCredentials
from broker.security.sasl.stored_credentials import UserChange, encode_credential
from broker.security.scram import Credential
from broker.zookeeper.errors import MalformedZnode, OperationRefused

MECHANISM = "SCRAM-SHA-256"


def text(salt: bytes = b"salt", iterations: int = 4096) -> str:
    return encode_credential(Credential(salt, iterations, b"stored", b"server"))


class Store:
    """`/config/users` by the names of its znodes."""

    def __init__(self, **configs):
        self.configs = configs

    async def configured(self, entity_type):
        assert entity_type == "users"
        return sorted(self.configs)

    async def config(self, entity_type, name):
        if name in (".", ".."):
            raise OperationRefused(name)
        config = self.configs.get(name, {})
        if config is None:
            raise MalformedZnode(name)
        return dict(config)

    async def change_config(self, entity_type, name, change):
        self.configs[name] = change(await self.config(entity_type, name))


def whose(credentials: UserCredentials, user: str) -> str | None:
    account = credentials.account(MECHANISM, user)
    return account.principal if account else None


async def test_all_there_are_count_by_their_own_names():
    store = Store(
        **{"alice": {MECHANISM: text()}, "a%2Cb%3Dc%2F%C3%BC": {MECHANISM: text()}, "<default>": {MECHANISM: text()}}
    )
    credentials = UserCredentials(store)
    await credentials.load()
    assert [whose(credentials, name) for name in ("alice", "a,b=c/ü", "<default>", "nobody")] == [
        "User:alice",
        "User:a,b=c/ü",
        None,
        None,
    ]
    assert credentials.account("SCRAM-SHA-512", "alice") is None


async def test_what_changes_counts_and_what_goes_is_gone():
    store = Store(alice={MECHANISM: text()}, bob={MECHANISM: text()})
    credentials = UserCredentials(store)
    await credentials.load()
    store.configs["alice"] = {"producer_byte_rate": "1"}
    await credentials.apply("alice")
    await credentials.apply("bob/clients/c")
    assert (whose(credentials, "alice"), whose(credentials, "bob")) == (None, "User:bob")
    del store.configs["bob"]
    await credentials.load()
    assert whose(credentials, "bob") is None


@pytest.mark.parametrize("config", [None, {MECHANISM: "nonsense"}, {MECHANISM: "salt=,stored_key=,server_key="}])
async def test_what_cannot_be_read_lets_nobody_in_and_is_told_of(config, capsys):
    store = Store(alice={MECHANISM: text()})
    credentials = UserCredentials(store)
    await credentials.load()
    store.configs["alice"] = config
    await credentials.apply("alice")
    assert whose(credentials, "alice") is None
    assert "credential left out" in capsys.readouterr().out


async def test_a_change_leaves_the_rest_of_the_znode_and_counts_at_once():
    store = Store(alice={"producer_byte_rate": "1", MECHANISM: text()})
    credentials = UserCredentials(store)
    await credentials.change("alice", UserChange((MECHANISM,), {"SCRAM-SHA-512": text()}))
    assert store.configs["alice"].keys() == {"producer_byte_rate", "SCRAM-SHA-512"}
    assert credentials.account("SCRAM-SHA-512", "alice") is not None
    await credentials.change("a/b", UserChange((), {MECHANISM: text()}))
    assert "a%2Fb" in store.configs


async def test_a_name_that_no_znode_can_have_is_nobodys():
    assert await UserCredentials(Store()).of_users(["..", "nobody"]) == {"..": {}, "nobody": {}}


async def test_strangers_look_like_most():
    usual, other = text(b"u" * 26, 8192), text(bytes(64), 4096)
    credentials = UserCredentials(Store(a={MECHANISM: usual}, b={MECHANISM: other}, c={MECHANISM: usual}))
    assert credentials.likeness(MECHANISM) is None
    await credentials.load()
    assert credentials.likeness(MECHANISM).iterations == 8192
    assert credentials.likeness("SCRAM-SHA-512") is None
