"""Stores: folders on disk and in object stores, which are listed and read by byte ranges."""
