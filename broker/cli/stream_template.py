"""`python -m broker stream-template NAME --jobs-dir DIR`: a file to begin a stream job of one's own with."""

import argparse
from pathlib import Path

from broker.common.errors import StartupError
from broker.common.installation import jobs_dir
from broker.spark.catalog import is_job_name
from broker.spark.template import job_template


def main(argv: list[str]) -> int:
    """0 when the file was written; raises StartupError when it is there already or cannot be written."""
    parser = argparse.ArgumentParser(prog="broker stream-template", description="Write the beginning of a stream job.")
    parser.add_argument("name", help="lower-case letters, digits and _; the job's name and its file's")
    parser.add_argument("--jobs-dir", type=Path, default=jobs_dir(), metavar="DIR", help="where to (%(default)s)")
    arguments = parser.parse_args(argv)
    if not is_job_name(arguments.name):
        raise StartupError(f"{arguments.name} cannot be a job's name: lower-case letters, digits and _, and not taken.")
    path = arguments.jobs_dir / f"{arguments.name}.py"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x") as file:
            file.write(job_template(arguments.name))
    except OSError as error:
        raise StartupError(f"{path} cannot be written: {error.strerror}.") from error
    print(
        f"{path} is written: its function build is the job. `python -m broker stream-jobs {arguments.name}` reads it."
    )
    return 0
