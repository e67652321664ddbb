"""The roles are groups in the database: there after every migration, and after a `flush` has emptied it."""

from django.apps import AppConfig, apps
from django.apps.registry import Apps
from django.db import router
from django.db.models.signals import post_migrate

from console.kit.access.roles import ROLES


class AccessConfig(AppConfig):
    name = "console.kit.access"

    def ready(self) -> None:
        post_migrate.connect(_create_roles, sender=self)


def _create_roles(using: str, apps: Apps = apps, **_signal: object) -> None:
    """Create the roles. `apps` as they are after the migrations that were asked for: there may be no groups yet, or no
    longer.
    """
    try:
        group = apps.get_model("auth", "Group")
    except LookupError:
        return
    if not router.allow_migrate_model(using, group):
        return
    there = set(group.objects.using(using).filter(name__in=ROLES).values_list("name", flat=True))
    group.objects.using(using).bulk_create(group(name=name) for name in ROLES if name not in there)
