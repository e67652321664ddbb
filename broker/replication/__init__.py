"""Pure rules of a replicated partition: who leads, what is committed. Imports only broker.common."""
