"""Opens tables by their names in catalogs, with PyIceberg's configuration.

PyIceberg only says where a table's metadata is and which settings open its storage. whyscan reads
the metadata and plans in the same way as for a table that is opened by path.
"""

__all__ = ["configured", "names", "opening"]
