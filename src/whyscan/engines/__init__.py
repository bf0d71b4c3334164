"""Engines that read tables through whyscan: they receive the rows of a plan."""
