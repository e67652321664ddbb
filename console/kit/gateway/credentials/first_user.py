"""The first users of a secured cluster, made in ZooKeeper: nobody can log in yet who might ask a broker for it."""

import asyncio
import hmac
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from broker.common.clock import SystemClock
from broker.common.errors import BarnabasError
from broker.security.acls.model import AclEntry, Pattern
from broker.security.sanitized_names import sanitized
from broker.security.sasl.stored_credentials import credentials_in, encode_credential
from broker.security.scram import ITERATIONS_MIN, credential_of, derive_keys
from broker.zookeeper.acl_nodes import AclStore
from broker.zookeeper.digest_file import read_digest
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from console.kit.gateway.acls.interface import AclRule, binding_of

_SALT_BYTES = 24
_TIMEOUT_MS = 20_000


@dataclass(frozen=True)
class NewUser:
    """`rules` are kept besides those there are."""

    name: str
    password: str = field(repr=False)
    rules: tuple[AclRule, ...] = ()


def admit_users(zookeeper: str, digest_file: str, users: Iterable[NewUser], mechanism: str) -> str:
    """Have brokers accept the passwords and apply the rules; return why they do not, in a sentence, or nothing.

    A user who has that password already, and a rule that is there, are left as they are. Blocks for as long as
    ZooKeeper takes.
    """
    try:
        asyncio.run(_admit(zookeeper, digest_file, tuple(users), mechanism))
    except BarnabasError as error:
        return f"The first users cannot be made: {error}"
    return ""


async def _admit(zookeeper: str, digest_file: str, users: tuple[NewUser, ...], mechanism: str) -> None:
    digest = read_digest(Path(digest_file)) if digest_file else None
    session = ZooKeeperSession(zookeeper, _TIMEOUT_MS, digest, sets_acls=digest is not None)
    try:
        await session.connect(_TIMEOUT_MS)
        for parent in ("/config/users", "/config/changes"):
            await session.ensure(parent)
        store = ClusterStore(session, SystemClock())
        for user in users:
            await _take_password(store, sanitized(user.name), user.password.encode(), mechanism)
        await _keep_rules(AclStore(session), [rule for user in users for rule in user.rules])
    finally:
        await session.close()


async def _take_password(store: ClusterStore, name: str, password: bytes, mechanism: str) -> None:
    if not _knows(await store.config("users", name), password, mechanism):
        await store.change_config("users", name, lambda config: {**config, mechanism: _made(password, mechanism)})


async def _keep_rules(store: AclStore, rules: Iterable[AclRule]) -> None:
    wanted: dict[Pattern, list[AclEntry]] = {}
    for pattern, entry in map(binding_of, rules):
        wanted.setdefault(pattern, []).append(entry)
    if wanted:
        await store.ensure_paths()
    for pattern, entries in wanted.items():
        await store.change(pattern, _adding(entries))


def _adding(entries: Sequence[AclEntry]) -> Callable[[tuple[AclEntry, ...]], tuple[AclEntry, ...]]:
    return lambda present: tuple(dict.fromkeys((*present, *entries)))


def _knows(config: Mapping[str, str], password: bytes, mechanism: str) -> bool:
    known = credentials_in(config)[0].get(mechanism)
    if known is None:
        return False
    keys = derive_keys(password, known.salt, known.iterations, mechanism)
    made = credential_of(keys, known.salt, known.iterations, mechanism)
    return hmac.compare_digest(made.stored_key, known.stored_key)


def _made(password: bytes, mechanism: str) -> str:
    salt, iterations = os.urandom(_SALT_BYTES), 2 * ITERATIONS_MIN
    keys = derive_keys(password, salt, iterations, mechanism)
    return encode_credential(credential_of(keys, salt, iterations, mechanism))
