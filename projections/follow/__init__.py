"""Following the log: reading it page by page, and keeping the books up with it."""
