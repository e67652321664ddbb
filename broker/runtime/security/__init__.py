"""What ZooKeeper keeps of users: who may, how much, by which proof."""
