"""`manage.py up` and `manage.py down`: the whole house in one terminal. Nobody imports it."""
