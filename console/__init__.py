"""The console: shows a Kafka cluster live and runs its processes. Only `console.gateway` may import `broker`."""

from console.celery import app as celery_app

__all__ = ["celery_app"]
