"""Access lists as Kafka's AclAuthorizer has them: what a rule says, which ones apply, what follows. Pure."""
