"""Why a plan keeps what it keeps: conjuncts, causes, classes. It reads plans only."""
