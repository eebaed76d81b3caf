"""Following the log: reading it page by page, and updating the projections."""
