"""Mathematics on numbers of [0, 1]: bets, e-processes, bounds and intervals. Knows no judges, strata names or files."""
