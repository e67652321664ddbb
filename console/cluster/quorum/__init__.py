"""The page of the KRaft quorum and of the cluster's features."""
