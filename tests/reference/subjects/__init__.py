"""What is compared, by name."""

from tests.reference.comparison import Subject
from tests.reference.subjects.avro import AVRO
from tests.reference.subjects.connect import CONNECT
from tests.reference.subjects.converters import CONVERTERS
from tests.reference.subjects.files import FILES
from tests.reference.subjects.json_schemas import JSON_SCHEMAS
from tests.reference.subjects.protobuf import PROTOBUF
from tests.reference.subjects.texts import TEXTS
from tests.reference.subjects.transforms import PREDICATES, TRANSFORMS

SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in [
        *(*TRANSFORMS, PREDICATES, *CONVERTERS, *TEXTS, *AVRO, *FILES, *JSON_SCHEMAS, *PROTOBUF),
        *CONNECT,
    ]
}


def named(name: str) -> list[Subject]:
    """Return the subject of that name, or a group's: `brokers` has `brokers_topics` and others. Raises KeyError."""
    group = [subject for subject in SUBJECTS.values() if subject.name.startswith(f"{name}_")]
    return [SUBJECTS[name]] if name in SUBJECTS or not group else group
