"""The quotas that count on this broker: read from ZooKeeper, kept up to date, changed for clients (KIP-546).

They stand in /config/users (beside SCRAM credentials, which are others'), /config/clients and /config/ips, and count
for each broker alone. What cannot count, written past every check, is left out and logged.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import IPv6Address, ip_address

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.security_limits import QUOTA_USES_TOLD_MAX
from broker.config.broker import BrokerConfig
from broker.runtime.config_changes import Apply
from broker.security.quotas.addresses import AddressQuotas
from broker.security.quotas.client_quotas import ClientQuotas, QuotaSensor
from broker.security.quotas.entities import QuotaEntity, entity_at
from broker.security.quotas.filters import EntityFilter
from broker.security.quotas.meter import QuotaMeter
from broker.security.quotas.mutations import Mutations
from broker.security.quotas.values import QuotaKey, key_of, read_values, text_of
from broker.security.quotas.windows import WindowedRate, Windows
from broker.security.sanitized_names import DEFAULT, desanitized
from broker.security.session import Session
from broker.zookeeper.entity_configs import Config, EntityConfigs
from broker.zookeeper.errors import MalformedZnode, OperationRefused, ZooKeeperError, answer_of

_log = logger(__name__)

Values = Mapping[QuotaKey, float]
#: Values to set by key, None for what is to be removed.
Changes = Mapping[str, float | None]
_RESOLVE_S_MAX = 5.0


class Quotas:
    """One for a broker."""

    def __init__(self, configs: EntityConfigs, config: BrokerConfig, now_ns: Callable[[], int]):
        self._configs = configs
        self._applying = asyncio.Lock()
        #: Monotonic.
        self.now_ns = now_ns
        windows = Windows(config.quota_window_num, config.quota_window_size_seconds)
        of_mutations = Windows(config.controller_quota_window_num, config.controller_quota_window_size_seconds)
        self.clients = ClientQuotas(windows, of_mutations)
        self.addresses = AddressQuotas(windows)
        #: Of entities of addresses: the address each has set, which may be named by a host.
        self._addresses: dict[QuotaEntity, str] = {}

    # -- what is configured

    @property
    def keepers(self) -> list[tuple[str, Apply]]:
        """The quota listeners by entity type, for `ConfigKeepers`."""
        return [(kind, partial(self._apply, kind)) for kind in ("users", "clients", "ips")]

    async def load(self) -> None:
        """Load all quotas; raises ZooKeeperError."""
        async with self._applying:
            configs = await self._configs.all()
            for known in self.clients.entities():
                if known.path not in configs:
                    await self._set(known, {})
            for path, config in configs.items():
                if (entity := entity_at(path)) is not None:
                    await self._set(entity, config)

    async def _apply(self, kind: str, name: str) -> None:
        entity = entity_at(f"{kind}/{name}")
        if entity is None:
            return
        try:
            await self._look(entity)
        except OperationRefused as error:
            _log.error("changed quota not applied", entity=entity.path, reason=str(error))

    async def _look(self, entity: QuotaEntity) -> None:
        """Read an entity's quotas, one at a time, so that older values never replace newer ones."""
        async with self._applying:
            await self._set(entity, await self._configs.of(entity.path))

    async def _set(self, entity: QuotaEntity, config: Config) -> None:
        values, wrong = read_values(entity, config)
        for reason in wrong:
            _log.error("quota left out", entity=entity.path, reason=reason)
        if entity.ip is None:
            self.clients.set(entity, values, self.now_ns())
        else:
            await self._set_address(entity, values)

    async def _set_address(self, entity: QuotaEntity, values: Values) -> None:
        rate = values.get(QuotaKey.CONNECTION_CREATION_RATE)
        if entity.ip == DEFAULT:
            self.addresses.set(None, rate, self.now_ns())
            return
        before = self._addresses.pop(entity, None)
        if before is not None:
            self.addresses.set(before, None, self.now_ns())
        if rate is None:
            return
        address = await resolved(desanitized(entity.ip or ""))
        if address is None:
            _log.error("quota left out: no such address", entity=entity.path)
            return
        self._addresses[entity] = address
        self.addresses.set(address, rate, self.now_ns())

    # -- for clients

    async def described(self, entity_filter: EntityFilter) -> list[tuple[QuotaEntity, Values]]:
        """Return the quotas of matching entities, in the order of their paths. Raises ApiError."""
        try:
            configs = await self._configs.all()
        except ZooKeeperError as error:
            raise answer_of(error) from error
        entries = []
        for path, config in sorted(configs.items()):
            entity = entity_at(path)
            if entity is not None and entity_filter.matches(entity):
                values, _ = read_values(entity, config)
                entries.append((entity, values))
        return [(entity, values) for entity, values in entries if values]

    async def alter(self, entity: QuotaEntity, changes: Changes, *, validate_only: bool) -> None:
        """Set and remove quotas and tell every broker; they count here when this returns. Raises ApiError."""
        keys = {key_of(entity, name): value for name, value in changes.items()}
        texts = {key: text_of(key, value) for key, value in keys.items() if value is not None}
        if entity.ip not in (None, DEFAULT) and await resolved(desanitized(entity.ip)) is None:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"{desanitized(entity.ip)} is not a valid IP or resolvable host.")
        if validate_only:
            return

        def changed(present: Config) -> Config:
            kept = {name: text for name, text in present.items() if name not in keys}
            return {**kept, **{str(key): text for key, text in texts.items()}}

        try:
            await self._configs.change(entity.path, changed)
            await self._look(entity)
        except OperationRefused as error:
            raise ApiError(ErrorCode.INVALID_REQUEST, str(error)) from error
        except MalformedZnode as error:
            raise ApiError(ErrorCode.INVALID_CONFIG, str(error)) from error
        except ZooKeeperError as error:
            raise answer_of(error) from error
        _log.info("quotas set", entity=entity.path, quotas=",".join(sorted(keys)))

    # -- for requests

    def meter_of(self, session: Session, client_id: str, now_ns: int) -> QuotaMeter:
        """Return the meter of the session's client; the session keeps it."""
        meter = session.meter
        if meter is None or meter.client_id != client_id:
            meter = session.meter = self.clients.meter_of(session.principal, client_id, now_ns)
        return meter

    def of_fetches(self, session: Session, client_id: str) -> WindowedRate | None:
        """Return the fetch rate of the client; None if it has no quota."""
        meter = session.meter
        if meter is None or meter.client_id != client_id:
            meter = self.meter_of(session, client_id, self.now_ns())
        return meter.fetch

    def of_mutations(self, session: Session, client_id: str, *, is_strict: bool) -> Mutations:
        """Return the mutation quota for one request that changes topics."""
        bucket = None
        if self.clients.limits_mutations:
            bucket = self.meter_of(session, client_id, self.now_ns()).mutation
        return Mutations(bucket, self.now_ns, is_strict=is_strict)

    def delay_s(self, address: str) -> float:
        """Return how long a new connection is held before it is closed; 0 if it is welcome."""
        return self.addresses.admit(address, self.now_ns()) / 1000 if self.addresses.is_on else 0.0

    def uses(self) -> list[QuotaSensor]:
        """Return the quotas of clients nearest to their bounds."""
        return self.clients.uses(self.now_ns(), QUOTA_USES_TOLD_MAX)

    def address_uses(self) -> list[QuotaSensor]:
        """Return the connection rates of addresses, as `uses` does those of clients."""
        return self.addresses.uses(self.now_ns(), QUOTA_USES_TOLD_MAX)


async def resolved(text: str) -> str | None:
    """Return the address; None for a host that cannot be resolved now. A v4 address in v6 is the v4 address."""
    try:
        return _spelled(text)
    except ValueError:
        pass
    try:
        async with asyncio.timeout(_RESOLVE_S_MAX):
            addresses = await asyncio.get_running_loop().getaddrinfo(text, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        return None
    return _spelled(str(addresses[0][4][0])) if addresses else None


def _spelled(text: str) -> str:
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)
