"""A job's declaration as plain data: what a form is made of, by a program that does not run the job's file."""

import sys
from typing import Any

from broker.config.definition import ConfigType, Key
from broker.spark.definition import Job


def describe_job(job: Job) -> dict[str, Any]:
    """Describe a job as JSON; `reads` and `writes` name the parameters that are topics."""
    return {
        "name": job.name,
        "meaning": job.meaning,
        "documentation": documentation(job),
        "parameters": [describe_key(key) for key in job.keys],
        "reads": list(job.reads),
        "writes": list(job.writes),
    }


def describe_key(key: Key) -> dict[str, Any]:
    return {
        "name": key.name,
        "type": ConfigType(key.config_type).name.lower(),
        "default": key.default_text,
        "is_required": key.is_required,
        "meaning": key.meaning,
        "at_least": key.at_least,
        "at_most": key.at_most,
        "choices": list(key.choices),
    }


def documentation(job: Job) -> str:
    """Return the docstring of the file the job is in."""
    module = sys.modules.get(job.build.__module__)
    text = (module.__doc__ or "").strip() if module and getattr(module, "JOB", None) is job else ""
    return text or job.meaning
