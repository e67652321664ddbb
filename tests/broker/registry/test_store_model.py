"""The registry's life as hypothesis makes it up: whatever is decided, what was answered stays true, also for one who
reads the topic later, and also when the topic was compacted meanwhile.
"""

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker.registry import deleting
from broker.registry.errors import RegistryError
from broker.registry.names import context_of
from broker.registry.records import decode_key, decode_value, encode_key, encode_value
from broker.registry.registering import live_version, registration
from broker.registry.schema import Content, SchemaReference
from broker.registry.settings import config_record, mode_records
from broker.registry.store import SchemaStore
from tests.examples import examples

SUBJECTS = st.sampled_from(["a", "b", ":.c:a"])
TEXTS = st.sampled_from(["one", "two", "three", "four"])


class Registrations(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.log = []
        self.store = SchemaStore()
        #: (context, id) → the content that somebody was told to have this id. Never another.
        self.contents = {}

    def write(self, records):
        for record in records:
            for key in self.store.written_keys(record.key):
                pair = (key, encode_value(record.value))
                self.log.append(pair)
                assert self.store.apply(decode_key(key), decode_value(pair[1]), key) == ""

    @rule(subject=SUBJECTS, text=TEXTS, refers=st.booleans())
    def register(self, subject, text, refers):
        versions = self.store.versions("b")
        references = (
            (SchemaReference("r", "b", versions[-1].version),) if refers and versions and subject == "a" else ()
        )
        content = Content("AVRO", text, references)
        present = live_version(self.store, subject, content)
        before = self.store.versions(subject, deleted=True)
        if present is None:
            present, records = registration(self.store, subject, content, mode="READWRITE", schema_id=None, number=None)
            self.write(records)
            assert not before or present.version > before[-1].version
        self.know(subject, present.id, content)

    def know(self, subject, schema_id, content):
        present = self.contents.setdefault((context_of(subject), schema_id), content)
        assert present == content, "an id was given twice"

    @rule(subject=SUBJECTS, for_good=st.booleans())
    def delete_subject(self, subject, for_good):
        try:
            deletes = deleting.subject_for_good if for_good else deleting.subject_softly
            _, records = deletes(self.store, subject)
        except RegistryError:
            return
        self.write(records)
        assert not self.store.versions(subject)

    @rule(subject=SUBJECTS, number=st.integers(1, 4), for_good=st.booleans())
    def delete_version(self, subject, number, for_good):
        try:
            version = deleting.find(self.store, subject, number, deleted=True)
            deletes = deleting.version_for_good if for_good else deleting.version_softly
            records = deletes(self.store, version)
        except RegistryError:
            return
        self.write(records)
        assert self.store.version(subject, number) is None

    @rule(subject=st.sampled_from(["", "a"]), level=st.sampled_from(["FULL", "none"]))
    def configure(self, subject, level):
        self.write([config_record(self.store, subject, {"compatibility": level})])

    @rule()
    def change_mode(self):
        self.write(mode_records(self.store, "b", "READONLY", force=False))

    @rule()
    def compact(self):
        """Of each key the last record stays, and no tombstone."""
        last = dict(reversed(self.log))
        kept = [
            (key, value)
            for at, (key, value) in enumerate(self.log)
            if value is not None and not any(key == later for later, _ in self.log[at + 1 :])
        ]
        assert all(last[key] is not None for key, _ in kept)
        self.log = kept
        self.store = self.replayed()

    def replayed(self):
        store = SchemaStore()
        for key, value in self.log:
            assert store.apply(decode_key(key), decode_value(value), key) == ""
        return store

    @invariant()
    def another_reader_knows_the_same(self):
        other = self.replayed()
        assert shown(other) == shown(self.store)

    @invariant()
    def what_is_referred_to_is_there(self):
        for _, versions in self.store.subjects():
            for version in versions:
                for reference in version.content.references if not version.deleted else ():
                    assert self.store.version(reference.subject, reference.version) is not None

    @invariant()
    def an_id_means_what_it_meant(self):
        for (context, schema_id), content in self.contents.items():
            assert self.store.by_id(context, schema_id) in (None, content)
            assert self.store.ids_max(context) >= schema_id


def shown(store):
    return {
        "subjects": [(subject, list(versions)) for subject, versions in store.subjects()],
        "settings": [(store.config(name), store.mode(name)) for name in ("", "a", "b", ":.c:a")],
        "referrers": [store.referrers("b", number, deleted=True) for number in range(1, 5)],
        "ids": [store.ids_max(name) for name in (".", ".c")],
        "count": store.version_count,
    }


TestRegistrations = Registrations.TestCase
TestRegistrations.settings = settings(max_examples=examples(20), stateful_step_count=20)


def test_a_tombstone_goes_to_the_bytes_that_somebody_else_wrote():
    store = SchemaStore()
    written = b'{"magic":1,"keytype":"SCHEMA","subject":"s","version":1}'
    key = decode_key(written)
    value = {"subject": "s", "version": 1, "id": 1, "schema": "x"}
    assert store.apply(key, value, written) == ""
    assert store.written_keys(key) == [encode_key(key), written]


def test_a_record_that_gives_a_known_id_to_another_schema_is_passed_over():
    store = SchemaStore()
    one = {"subject": "s", "version": 1, "id": 1, "schema": "x"}
    store.apply(decode_key(b'{"keytype":"SCHEMA","subject":"s","version":1}'), one)
    other = one | {"version": 2, "schema": "y"}
    assert "id 1" in store.apply(decode_key(b'{"keytype":"SCHEMA","subject":"s","version":2}'), other)
    assert store.by_id(".", 1).text == "x"
    assert store.version("s", 2) is None
