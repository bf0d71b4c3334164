"""The command line: arguments in, exit code out. Alone in the package, it writes to streams."""
