"""Users of the cluster in memory: their credentials are made, kept and refused by the brokers' own code."""

import hmac
from collections.abc import Collection, Mapping
from typing import Protocol

from broker.common.errors import ApiError
from broker.protocol.messages.alter_user_scram_credentials import ScramCredentialDeletion, ScramCredentialUpsertion
from broker.security.sasl.stored_credentials import changes_of, credentials_in
from broker.security.scram import credential_of, derive_keys
from console.kit.gateway.credentials.interface import CredentialsView, Mechanisms
from console.kit.gateway.credentials.kafka import deletions, upsertion
from console.kit.gateway.errors import GatewayError, refusal


class FakeCluster(Protocol):
    def alive_brokers(self) -> list[int]: ...


class FakeCredentials:
    def __init__(self, cluster: FakeCluster):
        self._cluster = cluster
        self._users: dict[str, dict[str, str]] = {}
        #: What a test says of the cluster.
        self.own_user = ""
        self.rule_counts: Mapping[str, int] | None = None
        self.refused: GatewayError | None = None

    def describe(self) -> CredentialsView:
        self._check()
        users = {}
        for user, config in sorted(self._users.items()):
            users[user] = {name: item.iterations for name, item in credentials_in(config)[0].items()}
        return CredentialsView(users, self.rule_counts)

    def set_password(self, user: str, password: str, mechanisms: Mechanisms) -> None:
        self._change([], [upsertion(user, password, name, iterations) for name, iterations in mechanisms.items()])

    def delete(self, user: str, mechanisms: Collection[str]) -> None:
        self._change(deletions(user, mechanisms), [])

    def knows(self, user: str, password: str, mechanism: str) -> bool:
        """Whether a client could log in so."""
        known = credentials_in(self._users.get(user, {}))[0].get(mechanism)
        if known is None:
            return False
        keys = derive_keys(password.encode(), known.salt, known.iterations, mechanism)
        made = credential_of(keys, known.salt, known.iterations, mechanism)
        return hmac.compare_digest(made.stored_key, known.stored_key)

    def _change(self, deleted: list[ScramCredentialDeletion], made: list[ScramCredentialUpsertion]) -> None:
        self._check()
        for user, change in changes_of(deleted, made).items():
            try:
                if isinstance(change, ApiError):
                    raise change
                config = change.apply(self._users.get(user, {}))
            except ApiError as error:
                raise refusal(error.code, error.message or "") from error
            self._users[user] = config
            if not config:
                del self._users[user]

    def _check(self) -> None:
        self._cluster.alive_brokers()
        if self.refused is not None:
            raise self.refused
