"""Predicates: whether a transform is for a record."""

from broker.connect.api import ConfigDef, ConfigKey, ConnectRecord, Importance, Predicate
from broker.connect.api.config import not_empty
from broker.connect.api.plugin import Props
from broker.connect.transforms.patterns import java_regex


def _is_regex(name: str, value: str) -> None:
    java_regex(name, value)


class HasHeaderKey(Predicate):
    CONFIG = ConfigDef(
        ConfigKey("name", importance=Importance.MEDIUM, documentation="The header name.", validator=not_empty)
    )

    def configure(self, props: Props) -> None:
        self._name = self.CONFIG.parse(props)["name"]

    def test(self, record: ConnectRecord) -> bool:
        return any(header.key == self._name for header in record.headers)


class RecordIsTombstone(Predicate):
    def test(self, record: ConnectRecord) -> bool:
        return record.value is None


class TopicNameMatches(Predicate):
    CONFIG = ConfigDef(
        ConfigKey(
            "pattern", documentation="A Java regular expression for matching the whole topic name.", validator=_is_regex
        )
    )

    def configure(self, props: Props) -> None:
        self._pattern = java_regex("pattern", self.CONFIG.parse(props)["pattern"])

    def test(self, record: ConnectRecord) -> bool:
        return record.topic is not None and self._pattern.fullmatch(record.topic) is not None
