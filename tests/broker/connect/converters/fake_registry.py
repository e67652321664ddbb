"""A registry in memory that understands schemas as the real one does, for converters without a network."""

from broker.connect.api import DataError
from broker.connect.converters.registry.client import RegisteredSchema
from broker.registry.kinds import parse
from broker.registry.schema import Content, NamedSchema


class FakeRegistry:
    def __init__(self):
        self.by_subject: dict[str, list[int]] = {}
        self.contents: list[Content] = []
        self.request_count = 0
        self.away: Exception | None = None

    def register(self, subject, content):
        self._count()
        parse(content.type, content.text, self.referred(content))
        if content not in self.contents:
            self.contents.append(content)
        schema_id = self.contents.index(content) + 1
        self.by_subject.setdefault(subject, []).append(schema_id)
        return schema_id

    def look_up(self, subject, content):
        self._count()
        for schema_id in self.by_subject.get(subject, ()):
            if self.contents[schema_id - 1] == content:
                return schema_id
        raise DataError("Schema not found (40403)")

    def latest(self, subject):
        self._count()
        schema_id = self.by_subject[subject][-1]
        return RegisteredSchema(schema_id, self.contents[schema_id - 1])

    def by_id(self, schema_id):
        self._count()
        if not 0 < schema_id <= len(self.contents):
            raise DataError(f"Schema {schema_id} not found (40403)")
        return self.contents[schema_id - 1]

    def referred(self, content):
        return [
            NamedSchema(
                reference.name,
                self.contents[self.by_subject[reference.subject][reference.version - 1] - 1],
                reference.subject,
                1,
            )
            for reference in content.references
        ]

    def close(self):
        return

    def _count(self):
        self.request_count += 1
        if self.away is not None:
            raise self.away


def converter_of(cls, registry, is_key=False, **props):
    """Of `cls`, on a fake registry; underscores of `props` are dots."""

    class OnFake(cls):
        def _new_registry(self, settings):
            return registry

    made = OnFake()
    properties = {key.replace("_", "."): value for key, value in props.items()}
    made.configure({"schema.registry.url": "http://127.0.0.1:1", **properties}, is_key)
    return made
