"""The one reader of the cluster: looks at it in tiers, writes what changed and tells the pages."""
