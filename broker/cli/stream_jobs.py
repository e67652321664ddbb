"""`python -m broker stream-jobs [JOB]`: which stream jobs there are, or the parameters of one."""

import argparse
import json
import textwrap
from pathlib import Path

from broker.common.installation import jobs_dir
from broker.config.definition import Key
from broker.spark.catalog import BUILT_IN, find_job, user_job_meaning, user_jobs
from broker.spark.config import KEYS
from broker.spark.definition import Job
from broker.spark.description import describe_job, documentation


def main(argv: list[str]) -> int:
    """0; raises StartupError when there is no such job, or a user's file cannot be run."""
    parser = argparse.ArgumentParser(prog="broker stream-jobs", description="Tell which stream jobs there are.")
    parser.add_argument("job", nargs="?", help="tell its parameters, the keys of its properties file")
    parser.add_argument("--jobs-dir", type=Path, default=jobs_dir(), metavar="DIR", help="of this host's (%(default)s)")
    parser.add_argument("--json", action="store_true", help="for a program")
    arguments = parser.parse_args(argv)
    directory = arguments.jobs_dir.absolute()
    if arguments.job is None:
        _print_list(directory)
    elif arguments.json:
        print(json.dumps(describe_job(find_job(arguments.job, directory))))
    else:
        _print_job(find_job(arguments.job, directory))
    return 0


def _print_list(directory: Path) -> None:
    for name in BUILT_IN:
        print(f"  {name:<19}{find_job(name, None).meaning}")
    if directory is None:
        return
    for name in user_jobs(directory):
        print(f"  {name:<19}{user_job_meaning(name, directory)}")


def _print_job(job: Job) -> None:
    print(f"{documentation(job)}\n\nParameters of {job.name}:\n")
    for key in job.keys:
        _print_key(key)
    print("\nKeys of every stream job:\n")
    for key in KEYS:
        _print_key(key)


def _print_key(key: Key) -> None:
    print(f"  {key.name}\n{textwrap.fill(_said_of(key), 100, initial_indent=' ' * 6, subsequent_indent=' ' * 6)}")


def _said_of(key: Key) -> str:
    parts = [key.meaning]
    if key.choices:
        parts.append(f"One of {', '.join(key.choices)}.")
    if key.at_least is not None:
        parts.append(f"At least {key.at_least:g}.")
    if key.at_most is not None:
        parts.append(f"At most {key.at_most:g}.")
    parts.append("Must be set." if key.is_required else f"Default: {key.default_text or 'blank'}.")
    return " ".join(parts)
