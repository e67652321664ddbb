"""Failed logins, kept for as long as they count against the next attempt."""

from django.db import models


class FailedLogin(models.Model):
    username = models.CharField(max_length=150)
    address = models.CharField(max_length=45)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["username", "address"], name="failed_login_who")]
