from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("consumers", "0006_losses_and_beginnings"),
    ]

    operations = [
        migrations.AlterField(
            model_name="lagsample",
            name="lag",
            field=models.BigIntegerField(null=True),
        ),
    ]
