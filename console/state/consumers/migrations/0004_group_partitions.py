"""A group in one partition is called so."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consumers", "0003_arrivals")]

    operations = [
        migrations.RemoveConstraint("groupplace", "place_of_group"),
        migrations.RenameModel("GroupPlace", "GroupPartition"),
        migrations.AlterField(
            model_name="grouppartition",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="partitions", to="consumers.consumergroup"
            ),
        ),
        migrations.AddConstraint(
            "grouppartition",
            models.UniqueConstraint(fields=["group", "topic", "partition"], name="partition_of_group"),
        ),
    ]
