"""A world that counts: producers, a counter and a group that are killed, forget, repeat themselves and start again."""

from dataclasses import dataclass, field, replace
from operator import not_

from hypothesis import strategies as st

from broker.audit.increment import NO_RANGE, AuditTier, Chain, Increment
from broker.audit.ledger import AuditState
from broker.audit.tally import RecordTally
from broker.audit.verdict import judge

MINUTE = 60_000
#: A real time, so that nothing is before the beginning of all times.
BEGIN = 1_700_000_040_000 // MINUTE * MINUTE
TOPIC = "t"


def tally(window, first, last):
    """Of records first to last of a partition, one for each offset."""
    numbers = range(first, last + 1)
    return RecordTally(
        len(numbers), 10 * len(numbers), sum(hash((window, number)) for number in numbers) % 2**64, first, last
    )


@dataclass
class Source:
    """Who counts one partition: at `position`, told until there, committed as far as `committed`."""

    chain: Chain
    epoch: int = 0
    sequence: int = -1
    position: int = 0
    committed: int = 0

    def tell(self, at_ms, windows, end=NO_RANGE, *, is_last=False):
        self.sequence += 1
        start = NO_RANGE if end == NO_RANGE else self.position
        if end != NO_RANGE:
            self.position = end
        return Increment(
            self.chain, f"{self.chain.source}{self.epoch}", self.sequence, at_ms, windows, start, end, is_last
        )

    def restart(self):
        self.epoch, self.sequence, self.position = self.epoch + 1, -1, self.committed


@dataclass
class World:
    """Partitions as lists of windows, an offset each; `increments` is the audit topic."""

    logs: dict[int, list[int]] = field(default_factory=lambda: {0: [], 1: []})
    now_ms: int = BEGIN
    increments: list[Increment] = field(default_factory=list)
    sources: dict[tuple[str, int], Source] = field(default_factory=dict)

    def source(self, tier, name, partition):
        known = self.sources.get((name, partition))
        return known or self.sources.setdefault((name, partition), Source(Chain(tier, name, TOPIC, partition)))

    def produce(self, name, partition, count, *, late):
        log = self.logs[partition]
        window = (self.now_ms - late * MINUTE) // MINUTE * MINUTE
        first = len(log)
        log.extend([window] * count)
        producer = self.source(AuditTier.PRODUCED, name, partition)
        windows = {window: tally(window, first, len(log) - 1)} if count else {}
        self.increments.append(producer.tell(self.now_ms, windows))

    def read(self, tier, name, partition, count, *, loses=False):
        """The next of a partition; `loses` one of them."""
        reader = self.source(tier, name, partition)
        end = min(reader.position + count, len(self.logs[partition]))
        if end == reader.position:
            return
        windows = {}
        for offset in range(reader.position + loses, end):
            window = self.logs[partition][offset]
            windows[window] = windows.get(window, RecordTally()) + tally(window, offset, offset)
        self.increments.append(reader.tell(self.now_ms, windows, end))

    def commit(self, name):
        for (item, _), source in self.sources.items():
            if item == name:
                source.committed = source.position

    def kill(self, name):
        for (item, _), source in self.sources.items():
            if item == name:
                source.restart()

    def forget_one(self, name):
        """An increment that did not arrive."""
        for (item, _), source in self.sources.items():
            if item == name and source.sequence >= 0:
                source.sequence += 1

    def repeat(self, back):
        """An increment that is there again."""
        if self.increments:
            self.increments.append(self.increments[-1 - back % len(self.increments)])

    def do(self, step):
        kind, name, partition, count, is_so = step
        match kind:
            case "produce":
                self.produce(f"p{name}", partition, count, late=is_so)
            case "append":
                self.read(AuditTier.APPENDED, "counter", partition, count)
                self.commit("counter")
            case "consume":
                self.read(AuditTier.CONSUMED, f"g{name}", partition, count, loses=is_so)
            case "commit":
                self.commit(f"g{name}")
            case "kill group":
                self.kill(f"g{name}")
            case "kill":
                self.kill(("p0", "counter")[count % 2])
            case "forget":
                self.forget_one(("p0", "g0")[count % 2])
            case "repeat":
                self.repeat(count)
            case "wait":
                self.now_ms += count * 20_000


KINDS = (
    *["produce", "append", "consume", "consume", "consume", "wait"] * 3,
    *["commit", "kill group", "kill", "forget", "repeat"],
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.integers(0, 1), st.integers(0, 1), st.integers(1, 5), st.integers(0, 7).map(not_),
    ),
    min_size=10,
    max_size=80,
)  # fmt: skip


def rows_of(ledger: AuditState) -> dict[tuple, tuple[RecordTally, int]]:
    """(window, tier, source) → what was counted, and in how many partitions."""
    rows: dict[tuple, tuple[RecordTally, int]] = {}
    for chain, story in ledger.stories.items():
        for window in story.windows():
            place = window, str(chain.tier), chain.source
            counted, partitions = rows.get(place, (RecordTally(), 0))
            rows[place] = counted + story.tally(window), partitions + 1
    return rows


def verdicts_of(ledger: AuditState, now_ms: int) -> dict[int, tuple[str, list]]:
    verdict = judge(ledger, TOPIC, now_ms)
    findings = [replace(finding, topic="") for finding in verdict.findings]
    return {
        row.window: (str(row.state), [finding for finding in findings if finding.window == row.window])
        for row in verdict.rows
    }
