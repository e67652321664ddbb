"""What is compared, by name."""

from tests.reference.comparison import Subject
from tests.reference.subjects.avro import AVRO
from tests.reference.subjects.converters import CONVERTERS
from tests.reference.subjects.files import FILES
from tests.reference.subjects.json_schemas import JSON_SCHEMAS
from tests.reference.subjects.protobuf import PROTOBUF
from tests.reference.subjects.texts import TEXTS
from tests.reference.subjects.transforms import PREDICATES, TRANSFORMS

SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in [*TRANSFORMS, PREDICATES, *CONVERTERS, *TEXTS, *AVRO, *FILES, *JSON_SCHEMAS, *PROTOBUF]
}
