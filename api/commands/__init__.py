"""The commands of ``knacka`` for clubs, keys and backups, with their arguments.

Functions that take ``arguments`` run a command. They return its exit code, or raise
:class:`~api.commands.operator_store.NotDone`.
"""
