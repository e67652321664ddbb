"""Messages that wait are given to their channels: in order, again with growing pauses, for a day."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import close_old_connections
from django.db.models import QuerySet

from broker.common.backoff import pause_after
from console.kit.live.push import push_partial
from console.signals.alerts.channels import Channel
from console.signals.alerts.feature import LIVE_GROUP
from console.signals.alerts.file import RulesFile
from console.signals.alerts.messages import AlertMessage
from console.signals.alerts.models import Delivery
from console.signals.alerts.sending import NotTakenError, send
from console.state.consumers.tiers import TierContext, TierLook

#: A channel that hangs holds up nobody else.
_CHANNELS_AT_ONCE = 8
_AT_ONCE = 20
_PAUSE_MS, _PAUSE_MS_MAX = 10_000, 3_600_000
GIVEN_UP_AFTER_MS = 24 * 3_600_000


class Deliverer:
    """For one thread. What was sent and could not be written down as such is sent again, with the same id."""

    def __init__(
        self,
        clock_ms: Callable[[], int],
        file: RulesFile | None = None,
        send: Callable[[Channel, AlertMessage], None] = send,
    ):
        self._now_ms = clock_ms
        self._file = file or RulesFile()
        self._send = send
        self._pool = ThreadPoolExecutor(_CHANNELS_AT_ONCE, thread_name_prefix="alerts")
        self._busy: dict[str, Future[None]] = {}

    def look(self) -> None:
        self._busy = {name: item for name, item in self._busy.items() if not item.done()}
        channels = self._file.read().channels
        due = Delivery.objects.filter(result=Delivery.Result.WAITING, due_ms__lte=self._now_ms())
        for name in due.order_by().values_list("channel", flat=True).distinct():
            if name not in channels:
                self._give_up(due.filter(channel=name))
            elif name not in self._busy:
                self._busy[name] = self._pool.submit(self._deliver_to, channels[name])

    def wait(self) -> None:
        """Wait until started deliveries are done."""
        for future in list(self._busy.values()):
            future.result()

    def _deliver_to(self, channel: Channel) -> None:
        try:
            waiting = Delivery.objects.filter(channel=channel.name, result=Delivery.Result.WAITING)
            held: set[str] = set()
            for delivery in waiting.order_by("created_ms", "pk")[:_AT_ONCE]:
                # That it is over is not told before that it began.
                if delivery.rule in held or delivery.due_ms > self._now_ms() or not self._try(channel, delivery):
                    held.add(delivery.rule)
            push_partial(LIVE_GROUP, "live/resync.html", {"version": self._now_ms()})
        finally:
            close_old_connections()

    def _try(self, channel: Channel, delivery: Delivery) -> bool:
        delivery.tries += 1
        try:
            self._send(channel, AlertMessage.of(delivery.message))
        except NotTakenError as error:
            self._put_off(delivery, str(error))
        except Exception as error:
            self._put_off(delivery, f"{type(error).__name__}")
        else:
            delivery.result, delivery.sent_ms, delivery.error = Delivery.Result.SENT, self._now_ms(), ""
        delivery.save(update_fields=["tries", "result", "sent_ms", "due_ms", "error"])
        return delivery.result == Delivery.Result.SENT

    def _put_off(self, delivery: Delivery, error: str) -> None:
        now_ms = self._now_ms()
        delivery.error = error[:300]
        delivery.due_ms = now_ms + int(pause_after(delivery.tries, _PAUSE_MS, _PAUSE_MS_MAX))
        if now_ms - delivery.created_ms >= GIVEN_UP_AFTER_MS:
            delivery.result = Delivery.Result.FAILED

    def _give_up(self, deliveries: QuerySet[Delivery]) -> None:
        deliveries.update(result=Delivery.Result.FAILED, error="there is no such channel any more")


def tier(context: TierContext) -> TierLook:
    return TierLook(Deliverer(context.clock_ms).look)
