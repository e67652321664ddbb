"""Managed processes: ZooKeeper, brokers, demo sources and stream jobs, as rows that say what is wanted and what is.

`states.py` decides, `os_process.py` touches the operating system, `step.py` joins the two for one row, Celery tasks
call it. Processes outlive the worker that started them; whoever looks next knows them by pid, create time and token.
"""
