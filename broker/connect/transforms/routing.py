"""Which topic a record goes to, and whether it goes on at all."""

import dataclasses

from broker.connect.api import ConfigDef, ConfigKey, ConnectRecord, DataError, Importance, Transformation
from broker.connect.api.plugin import Props
from broker.connect.transforms.patterns import date_format, java_regex, java_replacement


class Filter(Transformation):
    """Drops every record; meant for use with a predicate."""

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        return None


class RegexRouter(Transformation):
    CONFIG = ConfigDef(
        ConfigKey(
            "regex", importance=Importance.HIGH, documentation="Regular expression to use for matching the whole topic."
        ),
        ConfigKey(
            "replacement",
            importance=Importance.HIGH,
            documentation="Replacement string; $1 is what the first group matched.",
        ),
    )

    def configure(self, props: Props) -> None:
        values = self.CONFIG.parse(props)
        self._regex = java_regex("regex", values["regex"])
        self._replace = java_replacement("replacement", values["replacement"], self._regex)

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        """Rename the topic. The pattern must match the whole topic; the first match is replaced, as by
        Matcher.replaceFirst.
        """
        if self._regex.fullmatch(record.topic) is None or (match := self._regex.match(record.topic)) is None:
            return record
        return dataclasses.replace(record, topic=self._replace(match) + record.topic[len(match[0] or "") :])


class TimestampRouter(Transformation):
    CONFIG = ConfigDef(
        ConfigKey(
            "topic.format",
            default="${topic}-${timestamp}",
            importance=Importance.HIGH,
            documentation="Format string with ${topic} and ${timestamp} as placeholders.",
        ),
        ConfigKey(
            "timestamp.format",
            default="yyyyMMdd",
            importance=Importance.HIGH,
            documentation="Format of the timestamp, as of java.text.SimpleDateFormat.",
        ),
    )

    def configure(self, props: Props) -> None:
        values = self.CONFIG.parse(props)
        self._topic = values["topic.format"]
        self._format = date_format("timestamp.format", values["timestamp.format"])

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        if record.timestamp_ms is None:
            raise DataError(f"Timestamp missing on record of topic {record.topic}")
        topic = self._topic.replace("${topic}", record.topic)
        topic = topic.replace("${timestamp}", self._format.format(record.timestamp_ms))
        return dataclasses.replace(record, topic=topic)
