import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("processes", "0001_squashed_0007_more_kinds"),
    ]

    operations = [
        migrations.CreateModel(
            name="StreamProgress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("facts", models.JSONField(default=dict)),
                (
                    "process",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="progress",
                        to="processes.managedprocess",
                    ),
                ),
            ],
        ),
    ]
