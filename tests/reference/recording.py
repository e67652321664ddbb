"""Cases and what the reference made of them, kept for the gate: no Java is needed to replay them."""

import json
import random
from pathlib import Path

from tests.reference.comparison import Subject, agree, ours_of, outcomes_of, text_of
from tests.reference.running import References

FOLDER = Path(__file__).parent / "recorded"
_OF_EACH = 40


def record(subjects: list[Subject], references: References) -> None:
    """Write cases of each subject whose outcomes agree, those of `past.jsonl` among them."""
    FOLDER.mkdir(exist_ok=True)
    for subject in subjects:
        drawn = random.Random(f"recorded {subject.name}")
        cases = [*past_cases(subject.name), *(subject.make(drawn) for _ in range(_OF_EACH))]
        # Nothing of the reference runs where they are replayed.
        cases = [case for case in cases if case.get("at") != "kafka"]
        lines = []
        for case, outcome in zip(cases, outcomes_of(subject, references.of(subject), cases), strict=True):
            if agree(subject, case, ours_of(subject, case), outcome):
                lines.append(text_of({"case": case, "outcome": outcome}))
        (FOLDER / f"{subject.name}.jsonl").write_text("\n".join(dict.fromkeys(lines)) + "\n")


def past_cases(subject: str) -> list[dict]:
    """Return the shrunk cases of differences that were mended."""
    lines = (Path(__file__).parent / "past.jsonl").read_text().splitlines()
    return [case for name, case in map(json.loads, lines) if name == subject]


def recorded(subject: str) -> list[tuple[dict, dict]]:
    """Return the cases of a subject with the reference's outcome."""
    lines = (FOLDER / f"{subject}.jsonl").read_text().splitlines()
    return [(entry["case"], entry["outcome"]) for entry in map(json.loads, lines)]
