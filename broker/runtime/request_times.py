"""How long this broker's answers took, by API, since it started."""

from collections.abc import Iterator

from broker.common.durations import Durations
from broker.protocol.api_keys import ApiKey


class ApiTimes:
    """Of one API; only the broker's loop changes it."""

    __slots__ = ("durations", "error_count")

    def __init__(self) -> None:
        self.durations = Durations()
        #: Answers with an error in them.
        self.error_count = 0


class RequestTimes:
    """As many entries as there are APIs that were asked."""

    def __init__(self) -> None:
        self._by_api: dict[ApiKey, ApiTimes] = {}

    def of(self, api: ApiKey) -> ApiTimes:
        return self._by_api.setdefault(api, ApiTimes())

    def __iter__(self) -> Iterator[tuple[ApiKey, ApiTimes]]:
        return iter(self._by_api.items())
