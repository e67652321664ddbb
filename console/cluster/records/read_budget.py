"""How many bytes per second people may read of records, all together and each for themselves: token buckets. Pure.

What was read is charged afterwards, so a bucket may be owed: nothing more is read until that has come in again. Who has
read nothing of late may go ahead though the others have used everything up, and they wait for it.
"""

import json
from dataclasses import dataclass, field
from math import exp

from console.kit.common.figures import size

#: So many seconds' worth may be read at once by who has waited for as long.
BURST_SECONDS = 2
#: Over which what is read per second is averaged.
RATE_SECONDS = 5
#: Accounts of people kept at one time; the one that has read least of late goes first.
PEOPLE_MAX = 1_000
#: Below this part of a person's budget somebody has read nothing of late.
_NOTHING = 0.02
_EVERYBODY = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes per second; 0: no limit."""

    total: int
    per_person: int

    def of(self, person: str) -> int:
        return self.per_person if person else self.total


@dataclass(frozen=True, slots=True)
class ReadAccount:
    """What is `left` (below zero: owed) and what was read per second of late, as it was at `at_ms`."""

    left: float
    rate: float
    at_ms: int

    def at(self, now_ms: int, limit: int) -> "ReadAccount":
        """Return the account at `now_ms`; a clock that was set back adds and removes nothing."""
        passed = max(0, now_ms - self.at_ms) / 1_000
        left = min(float(limit * BURST_SECONDS), self.left + limit * passed)
        return ReadAccount(left, self.rate * exp(-passed / RATE_SECONDS), now_ms)

    def charged(self, count: int) -> "ReadAccount":
        return ReadAccount(self.left - count, self.rate + count / RATE_SECONDS, self.at_ms)


@dataclass(frozen=True, slots=True)
class ReadAllowance:
    """Whether a person may read: `wait_ms` is 0 if so, otherwise `why` says whose budget is used up."""

    wait_ms: int = 0
    why: str = ""


@dataclass(slots=True)
class ReadBudgets:
    """The read budgets of all people together and of each recent reader."""

    limits: Limits
    accounts: dict[str, ReadAccount] = field(default_factory=dict)

    def charge(self, person: str, count: int, now_ms: int) -> ReadAllowance:
        """Charge `count` bytes to `person` and to all together; return the person's allowance then."""
        for name in (_EVERYBODY, person):
            self.accounts[name] = self._at(name, now_ms).charged(count)
        self._forget(now_ms)
        return self._standing(person, now_ms)

    def rates(self, now_ms: int) -> dict[str, float]:
        """Return recent bytes per second by person, the most first."""
        rates = {name: self._at(name, now_ms).rate for name in self.accounts if name != _EVERYBODY}
        return dict(sorted(rates.items(), key=lambda item: -item[1]))

    def total_rate(self, now_ms: int) -> float:
        return self._at(_EVERYBODY, now_ms).rate

    def _at(self, name: str, now_ms: int) -> ReadAccount:
        limit = self.limits.of(name)
        known = self.accounts.get(name)
        return known.at(now_ms, limit) if known else ReadAccount(float(limit * BURST_SECONDS), 0.0, now_ms)

    def _standing(self, person: str, now_ms: int) -> ReadAllowance:
        own, all_of_us = self._at(person, now_ms), self._at(_EVERYBODY, now_ms)
        if self.limits.per_person and own.left <= 0:
            used = f"your budget of {size(self.limits.per_person)}/s is used by what you read"
            return ReadAllowance(_wait_ms(own.left, self.limits.per_person), f"waiting: {used}")
        is_fresh = own.rate < _NOTHING * (self.limits.per_person or self.limits.total)
        floor = -self.limits.total if is_fresh else 0
        if not self.limits.total or all_of_us.left > floor:
            return ReadAllowance()
        least = _NOTHING * self.limits.total
        readers = sum(rate >= least for rate in self.rates(now_ms).values())
        who = (
            "what you read" if readers <= 1 and own.rate >= least else f"{readers} people" if readers > 1 else "others"
        )
        used = f"the budget of {size(self.limits.total)}/s is used by {who}"
        return ReadAllowance(_wait_ms(all_of_us.left - floor, self.limits.total), f"waiting: {used}")

    def _forget(self, now_ms: int) -> None:
        """Forget accounts with a full budget; and the smallest, where there are too many."""
        for name in [account for account in self.accounts if account != _EVERYBODY]:
            now = self._at(name, now_ms)
            if now.rate < 1 and now.left >= self.limits.of(name) * BURST_SECONDS:
                del self.accounts[name]
        for name in list(self.rates(now_ms))[PEOPLE_MAX:]:
            del self.accounts[name]

    def as_text(self) -> str:
        return json.dumps({name: [item.left, item.rate, item.at_ms] for name, item in self.accounts.items()})


def ledger_of(text: str | bytes | None, limits: Limits) -> ReadBudgets:
    """Parse what `as_text` returned; anything else is an empty ledger."""
    try:
        document = json.loads(text or "{}")
        accounts = {
            str(name): ReadAccount(float(left), float(rate), int(at)) for name, (left, rate, at) in document.items()
        }
    except (ValueError, TypeError, AttributeError):
        accounts = {}
    return ReadBudgets(limits, accounts)


def _wait_ms(left: float, limit: int) -> int:
    return max(1, round(1_000 * -left / limit))
