"""The audit of a club's books: everything is calculated again from the rows of the log and compared.

The audit trusts no projection. It reads the rows in order (:mod:`projections.audit.reading`) and enters them into a
ledger of its own. Then it compares that with the club's books (:mod:`projections.audit.books`) and with the signed
log (:mod:`projections.audit.tree`). The result of each match is settled again from its protocol
(:mod:`projections.audit.settled`).
"""
