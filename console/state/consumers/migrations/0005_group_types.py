from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consumers", "0001_squashed_0004_group_partitions")]

    operations = [
        migrations.AddField(
            model_name="consumergroup",
            name="group_type",
            field=models.CharField(default="classic", max_length=40),
        ),
        migrations.AddField(
            model_name="consumergroup",
            name="details",
            field=models.JSONField(default=dict),
        ),
        migrations.AlterField(
            model_name="consumergroup",
            name="member_count",
            field=models.IntegerField(default=0, null=True),
        ),
    ]
