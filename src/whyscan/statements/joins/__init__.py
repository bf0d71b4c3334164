"""What joins supply to the scans: equalities, bounds and values of the other side."""
