"""The inventory: tables to one row a container, with what their metadata says of it."""
