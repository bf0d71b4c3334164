"""`whyscan cache`: show or clear the local cache of remote metadata."""

from __future__ import annotations

import click

from whyscan.cli.output import write


@click.group(
    invoke_without_command=True, short_help="Show or clear the local cache of remote metadata."
)
@click.pass_context
def cache(context: click.Context) -> None:
    """Say what the cache of remote metadata holds; WHYSCAN_CACHE_SIZE bounds it."""
    if context.invoked_subcommand is not None:
        return
    from whyscan.reports.words import counted, inert, size
    from whyscan.tables.storage.disk_cache import users_cache

    user_cache = users_cache()
    usage = user_cache.usage()
    place, objects = inert(str(user_cache.folder)), counted(usage.entries, "object")
    write(f"{place}: {objects}, {size(usage.bytes)} of {size(user_cache.bound)}\n")


@cache.command()
def clear() -> None:
    """Remove everything that the cache holds."""
    from whyscan.reports.words import counted, size
    from whyscan.tables.storage.disk_cache import users_cache

    gone = users_cache().clear()
    write(f"removed {counted(gone.entries, 'object')}, {size(gone.bytes)}\n")
