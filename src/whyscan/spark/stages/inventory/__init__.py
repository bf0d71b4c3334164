"""The inventory of tables: one row per container, with its statistics."""
