"""How much users, client ids and addresses may take (KIP-13, KIP-124, KIP-219, KIP-546, KIP-599, KIP-612)."""
