"""Who reads through us: engines that take a plan's rows for a table's."""
