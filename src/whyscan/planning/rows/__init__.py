"""Plans that need fewer rows than match: LIMIT, top-k, and aggregates from metadata."""

__all__ = ["answers", "limit", "topk"]
