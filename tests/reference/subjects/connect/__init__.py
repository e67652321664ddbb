"""Connect's REST beside a worker of Kafka: requests one after the other, and validation of configurations."""

from tests.reference.comparison import Processes, Subject
from tests.reference.subjects.connect import dialogues, validations
from tests.reference.subjects.connect.workers import kafkas_worker, our_worker, ours

WORKERS = Processes(our_worker, kafkas_worker)
CONNECT = [
    Subject(
        "connect_validation",
        validations.validation,
        ours(validations.shortened, is_started=False),
        300,
        processes=WORKERS,
        pieces=validations.differing,
        smaller=validations.smaller,
    ),
    Subject(
        "connect_rest",
        dialogues.dialogue,
        ours(dialogues.outcome_of),
        150,
        processes=WORKERS,
        pieces=dialogues.differing,
        smaller=dialogues.smaller,
    ),
]
