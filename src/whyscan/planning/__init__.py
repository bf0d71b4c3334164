"""From verdicts to a plan: level by level, who removed what, and what is left to read."""
