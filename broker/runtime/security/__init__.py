"""What ZooKeeper keeps of users: ACLs, quotas, credentials."""
