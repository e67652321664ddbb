"""How long this broker's answers took and which errors were in them, by API, since it started."""

from collections.abc import Iterator

from broker.common.durations import Durations
from broker.protocol.api_keys import ApiKey


class ApiTimes:
    """The request times of one API; only the broker's loop changes them."""

    __slots__ = ("durations", "errors")

    def __init__(self) -> None:
        self.durations = Durations()
        #: Answers with an error in them, by the first one's code.
        self.errors: dict[int, int] = {}

    def note_error(self, code: int) -> None:
        self.errors[code] = self.errors.get(code, 0) + 1

    @property
    def error_count(self) -> int:
        return sum(self.errors.values())


class RequestTimes:
    """Has one entry for each API that was used."""

    def __init__(self) -> None:
        self._by_api: dict[ApiKey, ApiTimes] = {}

    def of(self, api: ApiKey) -> ApiTimes:
        return self._by_api.setdefault(api, ApiTimes())

    def __iter__(self) -> Iterator[tuple[ApiKey, ApiTimes]]:
        return iter(self._by_api.items())
