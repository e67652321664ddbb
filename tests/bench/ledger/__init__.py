"""The cost ledger: what small requests cost, counted so that no machine and no neighbour changes it."""
