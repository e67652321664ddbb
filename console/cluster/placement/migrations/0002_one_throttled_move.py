from django.db import migrations, models

_OPEN = ["beginning", "running"]


def keep_one(apps, schema_editor) -> None:
    """Of several that are open the newest has set its rate. The others end as before: each knows what to put back."""
    throttled = apps.get_model("placement", "Reassignment").objects.filter(state__in=_OPEN, rate__isnull=False)
    newest = throttled.order_by("-id").values_list("pk", flat=True).first()
    throttled.exclude(pk=newest).update(rate=None)


class Migration(migrations.Migration):
    dependencies = [
        ("placement", "0001_moves"),
    ]

    operations = [
        migrations.RunPython(keep_one, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="reassignment",
            constraint=models.UniqueConstraint(
                models.Value(1),
                condition=models.Q(("rate__isnull", False), ("state__in", _OPEN)),
                name="one_throttled_move_at_a_time",
            ),
        ),
    ]
