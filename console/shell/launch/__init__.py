"""`manage.py up` and `manage.py down`: everything in one terminal. Only entry points import it."""
