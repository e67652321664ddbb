"""Every change of leaders, in-sync replicas, brokers, controller, topics and processes, with its time."""
