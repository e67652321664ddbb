"""What the performance tools count, and the lines Kafka's print of it. Pure; times are seconds."""

from collections.abc import Sequence

_MB = 1024 * 1024
#: Latencies kept for percentiles: a longer run keeps every second, then every fourth one.
_SAMPLES_MAX = 500_000


class SendLatencies:
    """Latencies of acknowledged records: of all, and of those since the last line."""

    def __init__(self, started: float, *, samples_max: int = _SAMPLES_MAX):
        self._samples_max = samples_max
        self._all = _ReportWindow(started)
        self._recent = _ReportWindow(started)
        self._samples: list[int] = []
        self._each = 1

    @property
    def sample_count(self) -> int:
        return len(self._samples)

    @property
    def count(self) -> int:
        return self._all.count

    @property
    def bytes(self) -> int:
        return self._all.bytes

    @property
    def recent_since(self) -> float:
        return self._recent.since

    def add(self, latency_ms: float, size: int) -> None:
        if self._all.count % self._each == 0:
            self._samples.append(round(latency_ms))
            if len(self._samples) >= self._samples_max:
                del self._samples[1::2]
                self._each *= 2
        self._all.add(latency_ms, size)
        self._recent.add(latency_ms, size)

    def window_line(self, now: float) -> str:
        """Return the line for the window since the last one, and begin the next window."""
        window, self._recent = self._recent, _ReportWindow(now)
        per_second, mb = window.rates(now)
        return (
            f"{window.count} records sent, {per_second:.1f} records/sec ({mb:.2f} MB/sec), "
            f"{window.average:.1f} ms avg latency, {window.largest:.1f} ms max latency."
        )

    def total_line(self, now: float) -> str:
        per_second, mb = self._all.rates(now)
        shares = zip(percentiles(self._samples, (0.5, 0.95, 0.99, 0.999)), ("50", "95", "99", "99.9"), strict=True)
        return (
            f"{self._all.count} records sent, {per_second:f} records/sec ({mb:.2f} MB/sec), "
            f"{self._all.average:.2f} ms avg latency, {self._all.largest:.2f} ms max latency, "
            f"{', '.join(f'{value} ms {name}th' for value, name in shares)}."
        )


class _ReportWindow:
    def __init__(self, since: float):
        self.since = since
        self.count = 0
        self.bytes = 0
        self._sum = 0.0
        self.largest = 0.0

    def add(self, latency_ms: float, size: int) -> None:
        self.count += 1
        self.bytes += size
        self._sum += latency_ms
        self.largest = max(self.largest, latency_ms)

    @property
    def average(self) -> float:
        return self._sum / self.count if self.count else 0.0

    def rates(self, now: float) -> tuple[float, float]:
        """Return records and megabytes per second."""
        elapsed = max(now - self.since, 1e-3)
        return self.count / elapsed, self.bytes / elapsed / _MB


def percentiles(samples: Sequence[int], shares: Sequence[float]) -> list[int]:
    """Return the percentiles as Kafka picks them: the sample at that share of the sorted ones."""
    ordered = sorted(samples) or [0]
    return [ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in shares]


class SendPace:
    """How many records may have been sent by now, at `per_second` of them; any number at -1."""

    def __init__(self, per_second: float, started: float):
        self._per_second = per_second
        self._started = started

    def wait_s(self, sent: int, now: float) -> float:
        """Return how long to wait until the next record is due."""
        if self._per_second <= 0:
            return 0.0
        return max(0.0, self._started + sent / self._per_second - now)


CONSUMED_HEAD = (
    "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, "
    "fetch.nMsg.sec"
)


def consumed_columns(
    size: int, count: int, elapsed_s: float, rebalance_s: float, *, size_before: int = 0, count_before: int = 0
) -> str:
    """Return the totals of the run, and rates since `…_before`."""
    fetch_s = elapsed_s - rebalance_s
    mb, news = (size - size_before) / _MB, count - count_before
    return (
        f"{size / _MB:.4f}, {_rate(mb, elapsed_s)}, {count}, {_rate(news, elapsed_s)}, {round(rebalance_s * 1000)}, "
        f"{round(fetch_s * 1000)}, {_rate(mb, fetch_s)}, {_rate(news, fetch_s)}"
    )


def _rate(amount: float, seconds: float) -> str:
    return f"{amount / seconds if seconds > 0 else 0.0:.4f}"


def java_date_format(pattern: str) -> str:
    """Return SimpleDateFormat's letters as strftime's; milliseconds as `%f`, of which three digits are meant."""
    out, at = "", 0
    letters = ("yyyy", "yy", "MM", "dd", "HH", "hh", "mm", "ss", "SSS", "a", "Z")
    codes = ("%Y", "%y", "%m", "%d", "%H", "%I", "%M", "%S", "%f", "%p", "%z")
    while at < len(pattern):
        if pattern[at] == "'":
            end = pattern.find("'", at + 1)
            end = len(pattern) if end < 0 else end
            out, at = out + (pattern[at + 1 : end] or "'"), end + 1
            continue
        index = next((i for i, letter in enumerate(letters) if pattern.startswith(letter, at)), None)
        out += pattern[at].replace("%", "%%") if index is None else codes[index]
        at += 1 if index is None else len(letters[index])
    return out
