"""A Spark stream job: a driver that tells by its progress file how its query fares.

Spec: `directory` (checkpoint, progress and properties file) and `properties`, which are set in stream.properties; its
other keys stay. What decides whose code runs follows from the console's settings, whatever the spec says: directories
and Spark's master. Settings of Spark itself are for that file, which a person with an account on this host edits.
"""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from console.processes.job_users import user_of_stream
from console.processes.kinds.client_config import tell_client_config
from console.processes.kinds.process import StartedProcess
from console.processes.kinds.spec import Launch, Spec, SpecError, read_directory, read_pairs, refuse_unknown
from console.processes.properties_file import set_properties
from console.processes.readiness import read_progress, silence_of_job
from console.processes.truths import ClusterLook, ClusterTruth, RegistrationState

NAME, LABEL, ORDER, GRACE_S = "stream", "stream job", 30, 15
STOP_MEANS = (
    "Stops the stream job after its batch: its output stands still; started again, it goes on from its checkpoint."
)


def check(spec: Mapping[str, object]) -> Spec:
    refuse_unknown(spec, {"directory", "properties"})
    directory = read_directory(spec, "directory")
    properties = read_pairs(spec, "properties")
    if any(key.startswith("spark.") for key in properties):
        raise SpecError("properties must have no key of Spark's own; those stand in the job's file.")
    of_host = {
        "checkpoint.dir": directory,
        "jobs.dir": str(settings.JOBS_DIR),
        "files.dir": str(settings.DATA_DIR / "files"),
        "master": settings.SPARK_MASTER,
    }
    return {
        "directory": directory,
        "properties": {key: of_host.get(key, value) for key, value in properties.items()},
    }


def launch(spec: Spec) -> Launch:
    return Launch(["stream", "--config", str(_file(spec))], Path(spec["directory"]))


def _file(spec: Spec) -> Path:
    return Path(spec["directory"]) / "stream.properties"


def write_files(spec: Spec) -> None:
    set_properties(_file(spec), spec["properties"])
    refresh_files(spec)


def refresh_files(spec: Spec) -> None:
    tell_client_config(_file(spec), user_of_stream(Path(spec["directory"])))


def what_is_missing(process: StartedProcess, pid: int, now_s: float) -> str:
    return silence_of_job(read_progress(process.data_dir), pid, now_s)


def describe_answer(_process: StartedProcess) -> str:
    return "it has no port; its heartbeat is fresh"


def cluster_truth(process: StartedProcess, _look: ClusterLook) -> ClusterTruth:
    """Return the job's last report: a query is registered nowhere in the cluster."""
    progress = read_progress(process.data_dir)
    text = (
        f"its driver reports that the query is {progress.get('state')}" if progress else "it has reported nothing yet"
    )
    return ClusterTruth(RegistrationState.NONE, text)
