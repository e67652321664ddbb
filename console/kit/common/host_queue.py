"""The queue of each host: a process is started by the worker that lives beside it."""


def host_queue(host_name: str) -> str:
    """Return the queue that the Celery worker of `host_name` consumes (`python -m console.shell.launch.worker`)."""
    return f"host.{host_name}"
