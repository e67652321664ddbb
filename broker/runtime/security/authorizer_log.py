"""The authorizer's log: who was denied what, in the words of Kafka's `kafka.authorizer.logger`, and how often.

A denied client asks again and again, so what is told is bounded: the same denial once in a while, and so many different
ones at most; how many were not told is told then. All are counted, by principal.
"""

import logging
from collections import Counter
from functools import partial
from typing import NamedTuple

from broker.common.clock import Clock
from broker.common.limits import DENIALS_LOGGED_EVERY_MS, DENIALS_LOGGED_MAX, DENIED_PRINCIPALS_COUNTED_MAX
from broker.common.security_limits import DECISION_NAME_LENGTH_MAX
from broker.security.acls.model import PatternType
from broker.security.operations import AclOperation, ResourceType
from broker.zookeeper.acl_znodes import pascal_case

LOGGER = "broker.authorizer"
#: The principals beyond those that are counted one by one.
OTHERS = "others"
_log = logging.getLogger(LOGGER)
#: Whether somebody wants to read what is allowed; asked for each decision.
tells_allowed = partial(_log.isEnabledFor, logging.DEBUG)


class Denial(NamedTuple):
    """`name` is cut at DECISION_NAME_LENGTH_MAX: clients ask for whatever they like."""

    at_ms: int
    principal: str
    host: str
    operation: AclOperation
    kind: ResourceType
    name: str


class AuthorizerLog:
    """For the owner's loop. A denial at INFO, what is allowed at DEBUG; lists that leave out what may not be seen say
    nothing here.
    """

    def __init__(self, clock: Clock):
        self._clock = clock
        self._began_ms = 0
        #: Hashes: what was asked for may have long names.
        self._logged: set[int] = set()
        self._untold = 0
        #: How often each principal was denied something; OTHERS for those who came late.
        self.denials: Counter[str] = Counter()
        #: The latest of each that is counted.
        self.latest: dict[str, Denial] = {}

    def allowed(self, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> None:
        _log.debug(_sentence(principal, "Allowed", host, operation, kind, name))

    def denied(self, principal: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> None:
        is_counted = principal in self.denials or len(self.denials) < DENIED_PRINCIPALS_COUNTED_MAX
        counted = principal if is_counted else OTHERS
        self.denials[counted] += 1
        self.latest[counted] = Denial(
            self._clock.now_ms(), principal, host, operation, kind, name[:DECISION_NAME_LENGTH_MAX]
        )
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._began_ms >= DENIALS_LOGGED_EVERY_MS:
            self.log_suppressed()
            self._logged.clear()
            self._began_ms = now_ms
        denial = hash((principal, host, operation, kind, name))
        if denial in self._logged or len(self._logged) >= DENIALS_LOGGED_MAX:
            self._untold += 1
            return
        self._logged.add(denial)
        _log.info(_sentence(principal, "Denied", host, operation, kind, name))

    def log_suppressed(self) -> None:
        if self._untold:
            _log.info("%d more denials like those before, or beyond the limit of this log", self._untold)
            self._untold = 0


def _sentence(principal: str, verdict: str, host: str, operation: AclOperation, kind: ResourceType, name: str) -> str:
    resource = f"{pascal_case(kind.name)}:{PatternType.LITERAL.name}:{name}"
    done = pascal_case(operation.name)
    return f"Principal = {principal} is {verdict} Operation = {done} from host = {host} on resource = {resource}"
