== HAVING on a key
orders orders [amount, month]: o5a o5b
-- spark trino duckdb snowflake bigquery postgres
SELECT month, sum(amount) AS total FROM orders GROUP BY month HAVING month = 5 AND sum(amount) > 10

== GROUP BY ALL
orders orders [amount, month]: o5a o5b
# Trino and Postgres have no GROUP BY ALL: they count the columns.
-- spark duckdb snowflake bigquery
SELECT * FROM (SELECT month, sum(amount) AS total FROM orders GROUP BY ALL) t WHERE month = 5
-- trino postgres
SELECT * FROM (SELECT month, sum(amount) AS total FROM orders GROUP BY 1) t WHERE month = 5

== a filter on a key of ROLLUP stays above
orders orders [amount, status, month]: o1a o1b o2a o2b o3a o3b o4a o4b o5a o5b o6a o6b
-- spark
SELECT * FROM (SELECT month, status, sum(amount) AS total FROM orders GROUP BY month, status WITH ROLLUP) t WHERE month IS NULL
-- trino duckdb snowflake bigquery postgres
SELECT * FROM (SELECT month, status, sum(amount) AS total FROM orders GROUP BY ROLLUP (month, status)) t WHERE month IS NULL

== GROUPING SETS
orders orders [amount, status, month]: o3a
-- spark trino duckdb snowflake bigquery postgres
SELECT month, status, count(*) AS n FROM orders WHERE month = 3 AND amount < 40 GROUP BY GROUPING SETS ((month, status), (month), ())

== a window partitioned by the filtered column
orders orders [id, amount, month]: o2a o2b
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM (SELECT id, month, rank() OVER (PARTITION BY month ORDER BY amount DESC) AS place FROM orders) t
WHERE month = 2 AND place = 1

== a window that is not partitioned by the filtered column
orders orders [id, amount, month]: o1a o1b o2a o2b o3a o3b o4a o4b o5a o5b o6a o6b
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM (SELECT id, month, row_number() OVER (ORDER BY amount) AS n FROM orders) t WHERE month = 2 AND n < 9

== QUALIFY
orders orders [id, amount, month]: o2a o2b
# Trino, Postgres and Spark (not Databricks) have no QUALIFY: they filter around the query.
-- duckdb snowflake bigquery
SELECT id FROM orders WHERE month = 2 QUALIFY row_number() OVER (PARTITION BY month ORDER BY amount) = 1
-- spark trino postgres
SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY month ORDER BY amount) AS n FROM orders WHERE month = 2) t WHERE n = 1

== a named window
orders orders [id, amount, month]: o2a o2b
# Snowflake has no WINDOW clause.
-- spark trino duckdb bigquery postgres
SELECT id FROM (SELECT id, month, sum(amount) OVER w AS total FROM orders WINDOW w AS (PARTITION BY month)) t WHERE month = 2 AND total > 5
-- snowflake
SELECT id FROM (SELECT id, month, sum(amount) OVER (PARTITION BY month) AS total FROM orders) t WHERE month = 2 AND total > 5

== DISTINCT under a filter
orders orders [user_id, month]: o6a o6b
-- spark trino duckdb snowflake bigquery postgres
SELECT user_id FROM (SELECT DISTINCT user_id, month FROM orders) t WHERE month = 6

== the first row of each group
orders orders [user_id, amount, month]: o1a o1b o2a o2b o3a o3b o4a o4b o5a o5b o6a o6b
# A row of another month may be a user's first: nothing passes.
-- duckdb postgres
SELECT amount FROM (SELECT DISTINCT ON (user_id) user_id, month, amount FROM orders ORDER BY user_id, amount) t WHERE month = 6
-- snowflake bigquery
SELECT amount FROM (SELECT user_id, month, amount FROM orders QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY amount) = 1) t WHERE month = 6
-- spark trino
SELECT amount FROM (SELECT user_id, month, amount, row_number() OVER (PARTITION BY user_id ORDER BY amount) AS n FROM orders) t WHERE month = 6 AND n = 1

== a filter above LIMIT
orders orders [id, amount, month]: o1a o1b o2a o2b o3a o3b o4a o4b o5a o5b o6a o6b
-- spark duckdb snowflake bigquery postgres
SELECT id FROM (SELECT id, month FROM orders ORDER BY amount + 1 LIMIT 5) t WHERE month = 2
-- trino
SELECT id FROM (SELECT id, month FROM orders ORDER BY amount + 1 FETCH FIRST 5 ROWS ONLY) t WHERE month = 2

== conditional aggregates
orders orders [amount, status, month]: o3a o3b o4a o4b
-- spark duckdb postgres trino
SELECT month, count(*) FILTER (WHERE status = 'paid') AS paid, sum(amount) AS total FROM orders WHERE month IN (3, 4) GROUP BY month
-- snowflake bigquery
SELECT month, countif(status = 'paid') AS paid, sum(amount) AS total FROM orders WHERE month IN (3, 4) GROUP BY month
