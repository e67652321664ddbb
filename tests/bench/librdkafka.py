"""The C producer and consumer that ship inside confluent-kafka, called without Python's work per message.

A Python loop around `produce()` tops out near 100 MB/s and would measure itself; here one call hands over a thousand
messages. Only what the loads need is declared.
"""

import ctypes
import glob
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

import confluent_kafka

_ERROR_BYTES = 512
_PRODUCER, _CONSUMER = 0, 1
_PARTITION_ANY = -1
_COPY = 2
_QUEUE_FULL = -184
_OFFSET_BEGINNING = -2


class _Message(ctypes.Structure):
    _fields_ = [
        ("err", c_int),
        ("rkt", c_void_p),
        ("partition", c_int32),
        ("payload", c_void_p),
        ("len", c_size_t),
        ("key", c_void_p),
        ("key_len", c_size_t),
        ("offset", c_int64),
        ("private", c_void_p),
    ]


def _load() -> ctypes.CDLL:
    package = Path(confluent_kafka.__file__).parent
    libraries = glob.glob(str(package.parent / "confluent_kafka.libs" / "librdkafka*.so*"))
    if not libraries:
        raise SystemExit("this confluent-kafka carries no librdkafka of its own; install the wheel from the lock")
    library = ctypes.CDLL(libraries[0])
    for name, result, arguments in (
        ("rd_kafka_conf_new", c_void_p, []),
        ("rd_kafka_conf_set", c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t]),
        ("rd_kafka_new", c_void_p, [c_int, c_void_p, c_char_p, c_size_t]),
        ("rd_kafka_topic_new", c_void_p, [c_void_p, c_char_p, c_void_p]),
        ("rd_kafka_produce_batch", c_int, [c_void_p, c_int32, c_int, POINTER(_Message), c_int]),
        ("rd_kafka_poll", c_int, [c_void_p, c_int]),
        ("rd_kafka_flush", c_int, [c_void_p, c_int]),
        ("rd_kafka_outq_len", c_int, [c_void_p]),
        ("rd_kafka_consume_start", c_int, [c_void_p, c_int32, c_int64]),
        ("rd_kafka_consume_stop", c_int, [c_void_p, c_int32]),
        ("rd_kafka_consume", POINTER(_Message), [c_void_p, c_int32, c_int]),
        ("rd_kafka_consume_callback", c_int, [c_void_p, c_int32, c_int, c_void_p, c_void_p]),
        ("rd_kafka_message_destroy", None, [POINTER(_Message)]),
        ("rd_kafka_topic_destroy", None, [c_void_p]),
        ("rd_kafka_destroy", None, [c_void_p]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_lib = _load()


class _Client:
    def __init__(self, kind: int, topic: str, settings: dict[str, object]):
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        conf = _lib.rd_kafka_conf_new()
        for name, value in settings.items():
            if _lib.rd_kafka_conf_set(conf, name.encode(), str(value).encode(), error, _ERROR_BYTES) != 0:
                raise ValueError(error.value.decode())
        self._handle = _lib.rd_kafka_new(kind, conf, error, _ERROR_BYTES)
        if not self._handle:
            raise RuntimeError(error.value.decode())
        self._topic = _lib.rd_kafka_topic_new(self._handle, topic.encode(), None)

    def close(self) -> None:
        _lib.rd_kafka_topic_destroy(self._topic)
        _lib.rd_kafka_destroy(self._handle)


class BatchProducer(_Client):
    """Sends the same record again and again, a thousand to a call."""

    PER_CALL = 1_000

    def __init__(self, bootstrap_servers: str, topic: str, value_bytes: int, settings: dict[str, object]):
        limits = {"queue.buffering.max.messages": 2_000_000, "queue.buffering.max.kbytes": 512_000}
        super().__init__(
            _PRODUCER, topic, {"bootstrap.servers": bootstrap_servers, "log_level": 0, **limits, **settings}
        )
        self._value = ctypes.create_string_buffer(
            (bytes(range(256)) * (value_bytes // 256 + 1))[:value_bytes], value_bytes
        )
        message = _Message(payload=ctypes.addressof(self._value), len=value_bytes)
        self._fresh = bytes(message) * self.PER_CALL
        self._messages = (_Message * self.PER_CALL)()

    def send(self, count: int) -> None:
        """Hand over `count` records and wait until each is acknowledged; RuntimeError when one is not."""
        left = count
        while left:
            wanted = min(left, self.PER_CALL)
            ctypes.memmove(self._messages, self._fresh, len(self._fresh))
            accepted = _lib.rd_kafka_produce_batch(self._topic, _PARTITION_ANY, _COPY, self._messages, wanted)
            left -= accepted
            if accepted < wanted:
                _lib.rd_kafka_poll(self._handle, 5)
        if _lib.rd_kafka_flush(self._handle, 120_000) != 0:
            raise RuntimeError(f"{_lib.rd_kafka_outq_len(self._handle)} records were not acknowledged within 120 s")


class BatchConsumer(_Client):
    """Reads one partition from its beginning; records are dropped as they arrive, without a line of Python for each."""

    def __init__(self, bootstrap_servers: str, topic: str, settings: dict[str, object]):
        limits = {"queued.min.messages": 1_000_000, "queued.max.messages.kbytes": 256_000}
        super().__init__(
            _CONSUMER, topic, {"bootstrap.servers": bootstrap_servers, "log_level": 0, **limits, **settings}
        )
        #: The consumer calls it with each record; it returns a constant.
        self._drop = ctypes.cast(_lib.rd_kafka_version, c_void_p)

    def start(self) -> None:
        """Returns when the first record has arrived: finding the leader and the first offset takes librdkafka 0.5 s."""
        _lib.rd_kafka_consume_start(self._topic, 0, _OFFSET_BEGINNING)
        has_arrived = False
        while not has_arrived:
            message = _lib.rd_kafka_consume(self._topic, 0, 1_000)
            if message:
                has_arrived = message.contents.err == 0
                _lib.rd_kafka_message_destroy(message)

    def read(self, count: int) -> None:
        """Returns when `count` more records have arrived."""
        while count > 0:
            count -= max(0, _lib.rd_kafka_consume_callback(self._topic, 0, 1_000, self._drop, None))

    def close(self) -> None:
        _lib.rd_kafka_consume_stop(self._topic, 0)
        super().close()
