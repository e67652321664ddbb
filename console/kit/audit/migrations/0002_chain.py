"""Seals what was recorded before there was a chain, oldest first, and makes the seal obligatory."""

from dataclasses import replace

from django.db import migrations, models

from console.kit.audit.chain import NO_SEAL, Link, seal_of
from console.kit.audit.record import THE_END, chain_key

#: What a seal of version 1 holds.
SEALED = (
    *("id", "at", "actor_name", "action", "object_type", "object_name"),
    *("before", "after", "result", "detail"),
)


def seal_rows(apps, schema_editor) -> None:
    events = apps.get_model("audit", "AuditEvent").objects
    seal, count = NO_SEAL, 0
    for event in events.order_by("id").iterator(chunk_size=500):
        fields = {name: getattr(event, name) for name in SEALED}
        link = Link(**fields, previous_seal=seal)
        link = replace(link, seal=seal_of(link, chain_key()))
        events.filter(pk=event.pk).update(previous_seal=link.previous_seal, seal=link.seal)
        seal, count = link.seal, count + 1
    apps.get_model("audit", "AuditEnd").objects.create(pk=THE_END, seal=seal, count=count)


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.AlterField("auditevent", "at", models.DateTimeField(db_index=True)),
        migrations.AddField("auditevent", "previous_seal", models.CharField(blank=True, max_length=64)),
        migrations.AddField("auditevent", "seal", models.CharField(default="", max_length=64), preserve_default=False),
        migrations.CreateModel(
            "AuditEnd",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seal", models.CharField(blank=True, max_length=64)),
                ("count", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.RunPython(seal_rows, migrations.RunPython.noop),
    ]
