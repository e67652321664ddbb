"""Every table as a file: CSV of what a page shows, with the page's own filters and rights."""
