"""Plans that need fewer rows than match: LIMIT, top-k, and aggregates from metadata."""
