"""The KRaft quorum that keeps a cluster's metadata, and the cluster's features."""
