"""A workload against its tables: what each query reads, what of it in vain, and what fell since."""
