"""Pure rules of a replicated partition: leadership, commitment, fetch sessions. Imports only broker.common."""
