"""Tables by the names that catalogs have for them, through PyIceberg's own configuration.

PyIceberg is asked where a table's metadata is and what opens its storage, and nothing else: the
metadata is read, and planned on, as that of a table by path.
"""
