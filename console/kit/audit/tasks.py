"""The task that Celery's beat runs periodically."""

from celery import shared_task
from django.utils import timezone

from console.kit.audit.tally import close_minutes


@shared_task(ignore_result=True)
def close_tallies() -> None:
    close_minutes(timezone.now())
