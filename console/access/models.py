"""Failed logins, kept for as long as they count against the next attempt."""

from django.db import models

USERNAME_LENGTH_MAX = 150
ADDRESS_LENGTH_MAX = 45


class FailedLogin(models.Model):
    username = models.CharField(max_length=USERNAME_LENGTH_MAX)
    address = models.CharField(max_length=ADDRESS_LENGTH_MAX)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["username", "address"], name="failed_login_who")]
