"""Many queries with how often they ran: SQL files, query logs, event logs, dbt, Trino."""
