"""The commands of ``knacka`` for clubs, keys and backups, with their arguments."""
