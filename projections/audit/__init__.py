"""The audit of a club's books, which trusts no projection.

It enters all rows into a ledger of its own (:mod:`projections.audit.reading`). It compares that with the club's books
(:mod:`projections.audit.books`), the signed log (:mod:`projections.audit.tree`) and the protocols
(:mod:`projections.audit.settled`).
"""
