"""The authorizer of a broker: keeps the rules as ZooKeeper has them, decides by them, changes them for administrators.

Changes are listened for before everything is read, and everything is read again after a session was lost, so no rule is
missed. While ZooKeeper is away what was read last counts. A rule that cannot be read keeps a broker from starting, and
one that comes later leaves in force what held before it: who was denied something must not get it by a broken znode.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from broker.common.clock import Clock
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.common.logs import logger, on_levels
from broker.common.security_limits import DECISIONS_REMEMBERED_MAX
from broker.net.turns import Turns
from broker.runtime.in_turns import in_turns
from broker.runtime.periodic import rounds
from broker.runtime.security.authorizer_log import AuthorizerLog
from broker.runtime.security.principal_rights import PrincipalRights
from broker.security.acls.decision import AccessRules
from broker.security.acls.filters import BindingFilter
from broker.security.acls.model import AclEntry, Binding, Pattern, java_host
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED, Rights
from broker.zookeeper.acl_nodes import AclChange, AclChanges, AclStore
from broker.zookeeper.errors import ConnectionInterrupted, MalformedZnode, SessionLost, ZooKeeperError, answer_of
from broker.zookeeper.session import SessionState, ZooKeeperSession

_log = logger(__name__)
#: The connection may be said to stand for a moment after it has gone.
_RECONNECTED_S = 0.02

#: Of a principal, from a host.
RightsOf = Callable[[str, str], Rights]


def unlimited_rights(_principal: str, _host: str) -> Rights:
    """Return the rights of a broker without an authorizer."""
    return UNLIMITED


class DeletedAcl(NamedTuple):
    """A rule that a filter meant: gone, or still there because of `error`."""

    binding: Binding
    error: ApiError | None


class Authorizer:
    """Kafka's AclAuthorizer. For the owner's loop."""

    def __init__(
        self,
        session: ZooKeeperSession,
        super_users: Collection[str],
        clock: Clock,
        *,
        allows_if_none: bool = False,
    ):
        """`allows_if_none` is Kafka's allow.everyone.if.no.acl.found."""
        self._session = session
        self._store = AclStore(session)
        self._unlimited = frozenset(super_users)
        self._allows_if_none = allows_if_none
        self._rules = AccessRules(allows_if_none=allows_if_none)
        self.log = AuthorizerLog(clock)
        #: Of those who are connected; nobody is remembered longer.
        self._rights: WeakValueDictionary[tuple[str, str], PrincipalRights] = WeakValueDictionary()
        self._remembered = 0
        #: None: all of them.
        self._changed: asyncio.Queue[Pattern | None] = asyncio.Queue()
        #: For what is done for an administrator's thousands of rules and filters.
        self._turns = Turns()
        #: What is read must not overwrite what was written after it.
        self._changing = asyncio.Lock()
        self._changes: AclChanges | None = None
        self._task: asyncio.Task[None] | None = None

    # -- life

    async def start(self) -> None:
        """Returns when the rules count; raises ZooKeeperError, MalformedZnode."""
        await self._store.ensure_paths()
        self._changes = AclChanges(self._session, self._changed.put_nowait)
        await self._changes.is_watching()
        self._session.on_state(self._on_state)
        on_levels.append(self._forget)
        await self._load()
        self._task = asyncio.get_running_loop().create_task(rounds(self._apply_next))

    def stop(self) -> None:
        if self._changes:
            self._changes.close()
        if self._task:
            self._task.cancel()
        if self._forget in on_levels:
            on_levels.remove(self._forget)
        self.log.log_suppressed()

    def _on_state(self, state: SessionState) -> None:
        if state is SessionState.LOST:
            self._changed.put_nowait(None)

    async def _apply_next(self) -> None:
        await self._apply(await self._changed.get())

    async def _apply(self, pattern: Pattern | None) -> None:
        while True:
            try:
                async with self._changing:
                    return await (self._load() if pattern is None else self._read(pattern))
            except (ConnectionInterrupted, SessionLost):
                await self._session.wait_connected()
                await asyncio.sleep(_RECONNECTED_S)
            except BarnabasError as error:
                _log.error("changed access rules not applied, those before count", reason=str(error))
                return None

    async def _load(self) -> None:
        self._rules = AccessRules(await self._store.load(), allows_if_none=self._allows_if_none)
        self._forget()

    async def _read(self, pattern: Pattern) -> None:
        self._set(pattern, await self._store.read(pattern))

    def _set(self, pattern: Pattern, entries: Iterable[AclEntry]) -> None:
        if self._rules.replace(pattern, entries):
            self._forget()

    # -- deciding

    def rights_of(self, principal: str, host: str) -> Rights:
        """Return the rights, shared by all clients of the same principal and host. Super users may do all."""
        if principal in self._unlimited:
            return UNLIMITED
        key = principal, java_host(host)
        rights = self._rights.get(key)
        if rights is None:
            rights = self._rights[key] = PrincipalRights(self, self.log, *key)
        return rights

    def allows(self, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        return self._rules.allows(principal, host, operation, kind, name)

    def allows_on_any(self, principal: str, host: str, operation: AclOperation, kind: ResourceType) -> bool:
        return self._rules.allows_on_any(principal, host, operation, kind)

    def has_remembered(self) -> None:
        if self._remembered >= DECISIONS_REMEMBERED_MAX:
            self._forget()
        self._remembered += 1

    def _forget(self) -> None:
        self._remembered = 0
        for rights in list(self._rights.values()):
            rights.forget()

    # -- for administrators

    def describe(self, wanted: BindingFilter) -> dict[Pattern, list[AclEntry]]:
        """Return the rules that count here and match, by what they are about."""
        acl_entries: dict[Pattern, list[AclEntry]] = {}
        for pattern, entries in self._rules.rules().items():
            if wanted.pattern.matches(pattern) and (matching := [one for one in entries if wanted.entry.matches(one)]):
                acl_entries[pattern] = matching
        return acl_entries

    async def create(self, bindings: Iterable[Binding]) -> dict[Binding, ApiError]:
        """Create ACLs and return those that failed; all others are in effect and announced on return."""
        by_pattern: dict[Pattern, list[AclEntry]] = {}
        await in_turns(
            bindings, lambda binding: by_pattern.setdefault(binding.pattern, []).append(binding.entry), self._turns
        )
        refused: dict[Binding, ApiError] = {}
        for pattern, entries in by_pattern.items():

            def with_new(present: tuple[AclEntry, ...], new: list[AclEntry] = entries) -> tuple[AclEntry, ...]:
                return tuple(dict.fromkeys((*present, *new)))

            if error := await self._change(pattern, with_new):
                refused |= {Binding(pattern, entry): error for entry in entries}
        return refused

    async def delete(self, filters: Sequence[BindingFilter]) -> list[list[DeletedAcl]]:
        """Delete ACLs and return those that each filter matched; one that several match is under the first. Those that
        name one pattern reach also what has not been heard of yet (KAFKA-9386).
        """
        only = await in_turns(filters, lambda filter_: filter_.pattern.only, self._turns)
        patterns = dict.fromkeys([*self._rules.rules(), *filter(None, only)])
        results: list[list[DeletedAcl]] = [[] for _ in filters]
        await in_turns(
            patterns,
            lambda pattern: self._delete_of(pattern, filters, results),
            self._turns,
            size_of=lambda _pattern: len(filters),
        )
        return results

    async def _delete_of(
        self, pattern: Pattern, filters: Sequence[BindingFilter], results: list[list[DeletedAcl]]
    ) -> None:
        """Delete the pattern's ACLs that a filter matches, and add each to the results of the first that does."""
        matches = await in_turns(filters, lambda filter_: filter_.pattern.matches(pattern), self._turns)
        asking = [(at, filter_.entry) for at, filter_ in enumerate(filters) if matches[at]]
        if not asking:
            return
        meant: dict[AclEntry, int] = {}

        def without(present: tuple[AclEntry, ...]) -> tuple[AclEntry, ...]:
            for entry in present:
                first = next((at for at, filter_ in asking if filter_.matches(entry)), None)
                if first is not None:
                    meant[entry] = first
            return tuple(entry for entry in present if entry not in meant)

        error = await self._change(pattern, without)
        for entry, at in meant.items():
            results[at].append(DeletedAcl(Binding(pattern, entry), error))

    async def _change(self, pattern: Pattern, change: AclChange) -> ApiError | None:
        try:
            async with self._changing:
                self._set(pattern, await self._store.change(pattern, change))
            return None
        except MalformedZnode as error:
            return ApiError(ErrorCode.INVALID_CONFIG, str(error))
        except ZooKeeperError as error:
            return answer_of(error)
