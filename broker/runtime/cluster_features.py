"""The features that the cluster has finalized, as this broker last read them, and their change by the controller."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from broker.common.errors import ApiError, ErrorCode, StartupError
from broker.common.features import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    GROUP_VERSION,
    NOTHING_FINALIZED,
    TRANSACTION_VERSION,
    FinalizedFeatures,
    SupportedFeature,
    unsupported_levels,
)
from broker.common.logs import logger
from broker.controller.feature_updates import FeatureUpdate, RefusedUpdate, levels_after, refusal_of_updates
from broker.coordinator.transaction.transaction import EPOCH_RAISING_VERSION
from broker.zookeeper.errors import ZooKeeperError
from broker.zookeeper.features import FEATURE, read_features, write_features
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.watches import ZnodeWatch

_log = logger(__name__)


class ClusterFeatures:
    """Follows /feature from `start` on. What was read last counts while ZooKeeper is out of reach, and when the znode
    is removed: the controller writes it again.
    """

    def __init__(self, store: ClusterStore, supported: Sequence[SupportedFeature], is_controller: Callable[[], bool]):
        self.supported = tuple(supported)
        self.finalized = NOTHING_FINALIZED
        #: Called with a sentence when the cluster finalizes what this broker does not support: it cannot go on.
        self.on_unsupported: Callable[[str], None] = lambda reason: None
        #: Awaited before the cluster finalizes that it keeps eligible leader replicas. Raises ZooKeeperError.
        self.before_eligible_leaders: Callable[[], Awaitable[None]] | None = None
        #: Called after each change of the levels.
        self.on_changed: list[Callable[[], None]] = []
        self._store = store
        self._is_controller = is_controller
        self._restoration: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._watch: ZnodeWatch[FinalizedFeatures | None] | None = None

    def level_of(self, feature: str) -> int:
        """Return the finalized level, 0 where the feature is not used."""
        return self.finalized.levels.get(feature, 0)

    async def load(self) -> None:
        """Read what is finalized. Raises StartupError if this release does not support it, and ZooKeeper's errors."""
        self._take(await read_features(self._store.session))
        if refusal := self._refusal():
            raise StartupError(refusal)

    def start(self) -> None:
        """Follow every further change."""
        self._watch = ZnodeWatch(
            self._store.session, lambda watcher: read_features(self._store.session, watcher), self._follow
        )

    def stop(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._restoration is not None:
            self._restoration.cancel()

    async def update(
        self, updates: Sequence[FeatureUpdate], timeout_ms: int, *, validate_only: bool
    ) -> RefusedUpdate | None:
        """Finalize what is asked, all or nothing; return the first update that was refused.

        Returns when this broker has seen the change. Raises ApiError REQUEST_TIMED_OUT, also when somebody else
        changed the levels at the same time, and BROKER_NOT_AVAILABLE while ZooKeeper is out of reach.
        """
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await self._update(updates, validate_only=validate_only)
        except TimeoutError:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT) from None
        except ZooKeeperError as error:
            raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE, f"ZooKeeper is out of reach: {error}") from error

    async def _update(self, updates: Sequence[FeatureUpdate], *, validate_only: bool) -> RefusedUpdate | None:
        while True:
            present = await read_features(self._store.session) or self.finalized._replace(zk_version=-1)
            brokers = await self._store.brokers()
            supported = {broker_id: broker.registration.features for broker_id, broker in brokers.items()}
            refusal = refusal_of_updates(updates, present, supported)
            levels = levels_after(updates, present)
            if refusal or validate_only or levels == present.levels:
                return refusal
            if keeps_eligible_in(levels) and self.before_eligible_leaders is not None:
                await self.before_eligible_leaders()
            if await write_features(self._store.session, levels, present):
                break
        _log.info("features finalized", **{name.replace(".", "_"): level for name, level in levels.items()})
        while self.finalized.epoch <= present.epoch:
            self._changed.clear()
            await self._changed.wait()
        return None

    def _follow(self, finalized: FinalizedFeatures | None) -> None:
        if finalized is None and self.finalized.epoch >= 0:
            _log.error("znode removed: the levels it held still count", path=FEATURE)
            if self._is_controller():
                self._restoration = asyncio.get_running_loop().create_task(self._restore())
            return
        self._take(finalized)
        if refusal := self._refusal():
            self.on_unsupported(refusal)

    async def _restore(self) -> None:
        """Write the znode again; if ZooKeeper fails, the watch looks once more when it is back."""
        try:
            await write_features(self._store.session, self.finalized.levels, NOTHING_FINALIZED)
        except ZooKeeperError as error:
            _log.warning("features not written again", reason=str(error))

    def _take(self, finalized: FinalizedFeatures | None) -> None:
        self.finalized = finalized or NOTHING_FINALIZED
        for listener in self.on_changed:
            listener()
        self._changed.set()

    def _refusal(self) -> str | None:
        unsupported = unsupported_levels(self.finalized, self.supported)
        if not unsupported:
            return None
        named = ", ".join(f"{name}={level}" for name, level in sorted(unsupported.items()))
        return f"the cluster has finalized {named}, which this release does not support: start a later release."


def raises_epochs(features: ClusterFeatures) -> bool:
    """Return whether the end of a transaction may raise its producer's epoch (KIP-890, part 2).

    Not before the cluster says so: a broker of an earlier release could not read what is recorded of it.
    """
    return features.level_of(TRANSACTION_VERSION) >= EPOCH_RAISING_VERSION


def keeps_eligible_in(levels: Mapping[str, int]) -> bool:
    """Return whether a cluster at these levels keeps eligible leader replicas (KIP-966)."""
    return levels.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) >= 1


def keeps_eligible(features: ClusterFeatures) -> bool:
    """Return whether the cluster keeps eligible leader replicas (KIP-966).

    Not before it says so: a leader of an earlier release commits records that these replicas lack.
    """
    return keeps_eligible_in(features.finalized.levels)


def serves_consumer_groups(features: ClusterFeatures) -> bool:
    """Return whether groups of the consumer protocol may be made (KIP-848).

    Not before the cluster says so: a coordinator of an earlier release passes over their records.
    """
    return features.level_of(GROUP_VERSION) >= 1
