"""GET /health of a Connect worker (KIP-1017), for probes of those that run it."""

from starlette.responses import JSONResponse

from broker.connect.herder.collaborators import WorkerMembership

#: By HTTP status, in Kafka's words.
_HEALTH = {
    200: {"status": "healthy", "message": "Worker has completed startup and is ready to handle requests."},
    503: {"status": "starting", "message": "Worker is still starting up."},
    500: {
        "status": "unhealthy",
        "message": "Worker was unable to handle this request and may be unable to handle other requests.",
    },
}


def health(group: WorkerMembership) -> JSONResponse:
    """Return whether the worker has joined its group, and is in it still."""
    status = 503 if group.generation < 0 else 200 if group.holds() else 500
    return JSONResponse(_HEALTH[status], status)
