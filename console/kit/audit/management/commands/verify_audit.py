"""`manage.py verify_audit`: whether every row of the audit is there, as it was written. Ends with 1 if not."""

import sys

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from console.kit.audit.queries import verify_chain


class Command(BaseCommand):
    help = "Follows the chain of the audit to its sealed end."

    def handle(self, *arguments: object, **options: object) -> None:
        if not settings.SECRETS_DIR.exists():
            raise CommandError(f"There is no audit: nothing was ever kept in {settings.DATA_DIR}.")
        verdict = verify_chain()
        self.stdout.write(
            f"{verdict.checked} rows are as they were written. Newest seal: {verdict.last_seal or 'none'}"
        )
        if verdict.broken:
            self.stdout.write(f"Broken: {verdict.broken.sentence}")
            sys.exit(1)
