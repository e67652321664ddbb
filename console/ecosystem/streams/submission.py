"""A new stream job as a plan: the properties file it gets, what is in its way, how it is taken back. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from console.kit.access.internal_names import BY_CONVENTION, InternalTopics
from console.kit.plans.plan import Plan, PlanLine

ACTION = "add stream job"
#: What a driver with its JVM and Python workers takes while it is busy.
MEMORY_OF_JOB = "about 1.5 GB"


@dataclass(frozen=True, slots=True)
class Submission:
    """`properties` is the whole file; `reads` and `writes` are topics."""

    name: str
    directory: str
    properties: Mapping[str, str]
    reads: Sequence[str]
    writes: Sequence[str]

    @property
    def spec(self) -> dict[str, object]:
        return {"directory": self.directory, "properties": dict(self.properties)}


@dataclass(frozen=True, slots=True)
class SubmissionFacts:
    """`writers` says which stream job writes a topic; `has_checkpoint` whether a job of this name left one behind."""

    names: Collection[str]
    topics: Collection[str]
    writers: Mapping[str, str]
    jobs_max: int
    jobs: int
    has_checkpoint: bool
    internal: InternalTopics = BY_CONVENTION
    #: What this host lacks to run a stream job, one sentence; empty if nothing.
    missing: str = ""


def submission_plan(submission: Submission, around: SubmissionFacts) -> Plan:
    obstacles = _obstacles(submission, around)
    made = [topic for topic in (*submission.reads, *submission.writes) if topic not in around.topics]
    touches = [
        f"{submission.directory}/stream.properties is written, and the job is started. It takes {MEMORY_OF_JOB}.",
        *([f"Topics it makes if they are not there: {', '.join(made)}."] if made else []),
    ]
    shared = {around.writers[topic] for topic in submission.writes if topic in around.writers}
    if shared:
        touches.append(f"{' and '.join(sorted(shared))} writes the same topic: their records will be mixed.")
    if around.has_checkpoint:
        touches.append("Its directory has a checkpoint of an earlier job of this name: it goes on from there.")
    return Plan(
        action=ACTION,
        object_type="process",
        object_name=submission.name,
        lines=tuple(PlanLine(key, None, value) for key, value in submission.properties.items()),
        read=(*(f"{key}={value}" for key, value in submission.properties.items()), *touches, *obstacles),
        touches=tuple(touches),
        losses=(),
        safe_because="" if shared or around.has_checkpoint else "It writes to topics that no other job writes.",
        undo="stop and remove it on its page. What it has written stays in its topic.",
        command=f"python -m broker stream --config {submission.directory}/stream.properties",
        obstacle=next(iter(obstacles), ""),
    )


def _obstacles(submission: Submission, around: SubmissionFacts) -> list[str]:
    obstacles = [around.missing] if around.missing else []
    if submission.name in around.names:
        obstacles.append(f"There is a process called {submission.name} already.")
    if around.jobs >= around.jobs_max:
        obstacles.append(
            f"{around.jobs} stream jobs are here already, and BARNABAS_STREAM_JOBS is {around.jobs_max}: each takes "
            f"{MEMORY_OF_JOB}."
        )
    for topic in submission.writes:
        if topic in submission.reads:
            obstacles.append(f"It would read what it writes, without end: {topic}.")
        if topic in around.internal:
            obstacles.append(f"{topic} is an internal topic, which its service alone writes.")
    if len(set(submission.writes)) < len(submission.writes):
        obstacles.append(f"Two of its outputs are the same topic: {submission.writes[0]}.")
    return obstacles
