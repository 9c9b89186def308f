"""`robust` against `paper` on the same streams: what the paper's procedure leaves broken, measured, and what mends it.

Each module of `parts` answers one question, on replicas, on real tables or on both; `split` says which of them the
defaults of `robust` were chosen on and which only confirm them.
"""
