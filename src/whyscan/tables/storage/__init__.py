"""Stores: folders on disk and in object stores, listed whole and read by ranges."""
