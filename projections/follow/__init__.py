"""Follow the log: read it page by page, and update the projections."""
