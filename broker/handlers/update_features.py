"""UpdateFeatures: the controller finalizes levels, all that a request names or none (KIP-584, KIP-778)."""

from broker.common.errors import ApiError, ErrorCode
from broker.controller.feature_updates import FeatureUpdate
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
    UpgradeType,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation


async def handle_update_features(request: UpdateFeaturesRequest, context: RequestContext) -> UpdateFeaturesResponse:
    services = context.services
    try:
        require_on_cluster(AclOperation.ALTER, context)
        if not services.controller.is_controller:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        updates = {update.feature: _update_of(update, context.api_version) for update in request.feature_updates}
        refused = await services.features.update(
            list(updates.values()), request.timeout_ms, validate_only=request.validate_only
        )
        if refused is not None:
            failed = "The update failed for all features since the following feature had an error: "
            raise ApiError(refused.code, failed + refused.message)
    except ApiError as error:
        return _response(request, error.code, error.message)
    return _response(request, ErrorCode.NONE, None)


def _update_of(update: FeatureUpdateKey, version: int) -> FeatureUpdate:
    """Version 0 knows of upgrades and of downgrades alone."""
    upgrade_type = update.upgrade_type
    if version == 0:
        upgrade_type = UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else UpgradeType.UPGRADE
    return FeatureUpdate(update.feature, update.max_version_level, upgrade_type)


def _response(request: UpdateFeaturesRequest, code: ErrorCode, message: str | None) -> UpdateFeaturesResponse:
    names = dict.fromkeys(update.feature for update in request.feature_updates)
    return UpdateFeaturesResponse(
        error_code=code,
        error_message=message,
        results=[UpdatableFeatureResult(feature=name, error_code=code, error_message=message) for name in names],
    )


HANDLER = public(ApiKey.UPDATE_FEATURES, 0, 2, handle_update_features)
