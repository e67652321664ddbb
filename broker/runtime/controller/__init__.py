"""The controller's shell: its queue, its lines to the brokers, and the effects it has on ZooKeeper."""
