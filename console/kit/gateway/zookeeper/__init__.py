"""ZooKeeper: znodes, what servers say of themselves, settings, leader recovery."""
