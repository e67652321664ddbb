"""What is compared, by name."""

from tests.reference.comparison import Subject
from tests.reference.subjects.avro import AVRO
from tests.reference.subjects.brokers import BROKERS, UNJUDGED_BROKERS
from tests.reference.subjects.commands import COMMANDS
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
        *(*CONNECT, *BROKERS),
    ]
}
#: Differences of these are not all listed yet: they run by their names alone.
UNJUDGED: dict[str, Subject] = {subject.name: subject for subject in (*COMMANDS, *UNJUDGED_BROKERS)}


def named(name: str) -> list[Subject]:
    """Return the subject of that name, or a group's: `brokers` has `brokers_topics` and others. Raises KeyError."""
    known = SUBJECTS | UNJUDGED
    group = [subject for subject in known.values() if subject.name.startswith(f"{name}_")]
    return [known[name]] if name in known or not group else group
