"""A cluster's condition as a whole: overview, alerts, dependencies between its parts."""
