"""What the feature of quotas tells of a client: the quota that counts for it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from console.kit.common.hook_point import HookPoint


@dataclass(frozen=True, slots=True)
class ClientQuota:
    """`words` name whose quota it is, `limits` its values; `is_held`: clients wait for it in these minutes."""

    words: str
    limits: str
    address: str
    is_held: bool = False


#: Called with (user, client id) of clients; returns the quotas of those that have one.
QUOTAS_OF_CLIENTS = HookPoint[Callable[[Collection[tuple[str, str]]], Mapping[tuple[str, str], ClientQuota]]](
    "console.state.client_applications.client_quota.QUOTAS_OF_CLIENTS"
)
