"""The commands of ``knacka`` that change the store or make keys, with their arguments.

Functions with ``arguments`` run a command and return its exit code, or raise
:class:`~api.commands.operator_store.NotDone`.
"""
