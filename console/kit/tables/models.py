"""What a person has chosen for every page, and views by name. Both are of all clusters, as accounts are."""

from django.conf import settings
from django.db import models

NAME_LENGTH_MAX = 60
VIEWS_MAX = 100


class Preference(models.Model):
    """`tables`: by the name of a list its hidden columns (`hide`), rows on a page and the order it was left in."""

    class Density(models.TextChoices):
        COMFORTABLE = "comfortable"
        COMPACT = "compact"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="preference"
    )
    density = models.CharField(max_length=12, choices=Density.choices, default=Density.COMFORTABLE)
    tables = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.user}: {self.density}"


class SavedView(models.Model):
    """`parameters` are those of the list's address; `hide` its hidden columns; `rows`: 0 is the list's own number."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    table = models.CharField(max_length=40)
    name = models.CharField(max_length=NAME_LENGTH_MAX)
    parameters = models.JSONField(default=dict)
    hide = models.JSONField(default=list)
    rows = models.PositiveSmallIntegerField(default=0)
    is_shared = models.BooleanField(default=False)

    class Meta:
        ordering = ["table", "name", "pk"]
        constraints = [models.UniqueConstraint(fields=["owner", "table", "name"], name="view_of_owner")]

    def __str__(self) -> str:
        return f"{self.name} on {self.table}"
