from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("clusters", "0005_refused_schemas")]

    operations = [
        migrations.AddField(
            model_name="clusterstate",
            name="keeps_elr",
            field=models.BooleanField(default=False),
        ),
    ]
