from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("processes", "0002_one_model")]

    operations = [migrations.RenameField("managedprocess", "rss_bytes", "memory_bytes")]
