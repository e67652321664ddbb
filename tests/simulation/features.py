"""Features of a cluster in a run, lowered before clients come and raised while they work, as clients know of them."""

import asyncio
from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.common.features import TRANSACTION_VERSION
from broker.coordinator.transaction.transaction import EPOCH_RAISING_VERSION
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpgradeType
from tests.simulation.client import ClusterClient, NoAnswerError
from tests.simulation.history import History

_API_VERSIONS_VERSION = 3
_UPDATE_VERSION = 2
_TIMEOUT_MS = 2_500
_EARLIER_VERSION = 1


class FinalizedView:
    """What one client knows of the finalized features: the newest that any broker has answered, as Kafka's clients."""

    def __init__(self, client: ClusterClient):
        self._client = client
        self._epoch = -1
        self._levels: dict[str, int] = {}

    @property
    def raises_epochs(self) -> bool:
        return self._levels.get(TRANSACTION_VERSION, 0) >= EPOCH_RAISING_VERSION

    async def refresh(self) -> None:
        """Ask any broker; what it does not answer stays as it is."""
        request = ApiVersionsRequest(client_software_name="simulation", client_software_version="1")
        try:
            response = await self._client.ask_any(request, _API_VERSIONS_VERSION)
        except NoAnswerError:
            return
        if response.finalized_features_epoch > self._epoch:
            self._epoch = response.finalized_features_epoch
            self._levels = {feature.name: feature.max_version_level for feature in response.finalized_features}


class FeatureUpgrader:
    """Lowers `transaction.version` before the load begins, and raises it once while clients are at work.

    raise_after_s: None leaves the features of a new cluster as they are.
    """

    def __init__(self, name: str, client: ClusterClient, history: History, raise_after_s: float | None):
        self._name = name
        self._client = client
        self._history = history
        self._raise_after_s = raise_after_s
        self.is_ready = raise_after_s is None
        self.is_stopping = False

    async def run(self) -> None:
        if self._raise_after_s is None:
            return
        while not await self._update(_EARLIER_VERSION, UpgradeType.SAFE_DOWNGRADE):
            await asyncio.sleep(0.2)
        self.is_ready = True
        await asyncio.sleep(self._raise_after_s)
        while not await self._update(EPOCH_RAISING_VERSION, UpgradeType.UPGRADE):
            await asyncio.sleep(0.2)

    async def _update(self, level: int, kind: UpgradeType) -> bool:
        """Return whether the cluster has finalized that level."""
        key = FeatureUpdateKey(feature=TRANSACTION_VERSION, max_version_level=level, upgrade_type=kind)
        request = UpdateFeaturesRequest(timeout_ms=_TIMEOUT_MS, feature_updates=[key])
        try:
            response = await self._client.ask_controller(request, _UPDATE_VERSION)
        except NoAnswerError:
            return False
        outcome = ErrorCode(response.error_code).name
        self._history.add(self._name, "finalizes", feature=TRANSACTION_VERSION, level=level, outcome=outcome)
        return response.error_code == ErrorCode.NONE


#: Whether every broker that runs raises epochs, so that no request is served by the protocol before.
RaisesEverywhere = Callable[[], bool]
