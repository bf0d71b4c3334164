"""The plan of a scan: which containers of each level stay, and what each file still needs."""
