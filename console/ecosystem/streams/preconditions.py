"""What a new stream job would find, and the properties that follow from the host instead of from a person."""

from django.conf import settings

from broker.common.extras import missing_part
from console.ecosystem.streams.forms import StreamForm
from console.ecosystem.streams.submission import Submission, SubmissionFacts
from console.kit.access.internal_topics import internal_topics
from console.kit.gateway.processes.stream_jobs import JobView, checkpoint_of
from console.processes.models import ManagedProcess
from console.state.clusters.models import Topic


def submission_of(job: JobView, form: StreamForm) -> Submission:
    """Return the submission of a valid `form`."""
    name = form.cleaned_data["name"]
    directory = settings.DATA_DIR / "streams" / name
    of_host = {
        "job": job.name,
        "bootstrap.servers": settings.BOOTSTRAP_SERVERS,
        "checkpoint.dir": str(directory),
        "jobs.dir": str(settings.JOBS_DIR),
        "files.dir": str(settings.DATA_DIR / "files"),
        "master": settings.SPARK_MASTER,
    }
    return Submission(name, str(directory), of_host | form.properties, form.topics(job.reads), form.topics(job.writes))


def preconditions_of(submission: Submission) -> SubmissionFacts:
    rows = list(ManagedProcess.objects.all())
    streams = [row for row in rows if row.kind == ManagedProcess.Kind.STREAM]
    return SubmissionFacts(
        names={row.name for row in rows},
        topics=set(Topic.objects.values_list("name", flat=True)),
        writers={topic: row.name for row in streams if (topic := row.spec.get("properties", {}).get("output.topic"))},
        jobs_max=settings.STREAM_JOBS_MAX,
        jobs=len(streams),
        has_checkpoint=checkpoint_of(settings.DATA_DIR / "streams" / submission.name) is not None,
        internal=internal_topics(),
        missing=missing_part("spark") or "",
    )
