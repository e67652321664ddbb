"""Whom a row of a cluster names: accounts lie in the console's database, so there is no constraint, and one that was
deleted is nobody, though rows in other databases do not hear of it.
"""

from typing import Any

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models.fields.related_descriptors import ForwardManyToOneDescriptor


class _AccountField(ForwardManyToOneDescriptor):  # type: ignore[type-arg]  # it takes none when it runs
    def get_object(self, instance: models.Model) -> models.Model | None:  # type: ignore[override]  # None: see above
        try:
            return super().get_object(instance)
        except ObjectDoesNotExist:
            return None


class AccountKey(models.ForeignKey[Any, Any]):
    """To migrations it is a foreign key like others."""

    forward_related_accessor_class = _AccountField

    def __init__(self, to: Any = settings.AUTH_USER_MODEL, on_delete: Any = models.SET_NULL, **named: Any):
        usual: dict[str, Any] = {"null": True, "related_name": "+", "db_constraint": False}
        super().__init__(to, on_delete, **usual | named)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, _, arguments, named = super().deconstruct()
        return name, "django.db.models.ForeignKey", arguments, named
