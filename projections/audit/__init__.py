"""The audit of a club's books, which trusts no projection.

It enters all rows into its own ledger (:mod:`~projections.audit.reading`), and compares that with the club's books
(:mod:`~projections.audit.books`), the signed log (:mod:`~projections.audit.tree`) and the protocols
(:mod:`~projections.audit.settled`).
"""
