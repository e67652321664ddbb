"""Registrations that were refused of late, by subject: whoever watches a registry sees which producer cannot go on."""

from collections import OrderedDict
from dataclasses import dataclass

from broker.common.security_limits import REGISTRY_REFUSALS_KEPT_MAX
from broker.registry.errors import RegistryError

#: After a pause as long as this it is another trouble, which is counted from its beginning.
EPISODE_MS = 600_000
_MESSAGE_LENGTH_MAX = 600


@dataclass(slots=True)
class RefusedRegistrations:
    """Refusals of a subject without a long pause; `code`, `message` and `client`, an address, are of the last one."""

    count: int
    first_ms: int
    last_ms: int
    code: int
    message: str
    client: str


class RegistrationRefusals:
    """In memory, of the registry that leads; the subjects that were refused last are kept."""

    def __init__(self) -> None:
        self._of_subjects: OrderedDict[str, RefusedRegistrations] = OrderedDict()

    def note(self, subject: str, error: RegistryError, client: str, at_ms: int) -> None:
        """Count a registration that `client` is to blame for: a failure of the registry itself (5xx) is none."""
        if not 400 <= error.status < 500:
            return
        known = self._of_subjects.pop(subject, None)
        goes_on = known is not None and at_ms - known.last_ms < EPISODE_MS
        self._of_subjects[subject] = RefusedRegistrations(
            known.count + 1 if known and goes_on else 1,
            known.first_ms if known and goes_on else at_ms,
            at_ms,
            error.code,
            str(error)[:_MESSAGE_LENGTH_MAX],
            client,
        )
        while len(self._of_subjects) > REGISTRY_REFUSALS_KEPT_MAX:
            self._of_subjects.popitem(last=False)

    def forget(self, subject: str) -> None:
        """Forget what was refused: a registration was taken since."""
        self._of_subjects.pop(subject, None)

    def lately(self, at_ms: int) -> list[tuple[str, RefusedRegistrations]]:
        """Return subjects with their refusals, the last refused first, without those before a long pause."""
        return [
            (subject, refused)
            for subject, refused in reversed(self._of_subjects.items())
            if at_ms - refused.last_ms < EPISODE_MS
        ]
