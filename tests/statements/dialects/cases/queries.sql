== a CTE
orders orders [user_id, amount, month]: o2a o2b
-- spark trino duckdb snowflake bigquery postgres
WITH spring AS (SELECT user_id, amount, month FROM orders WHERE month < 3)
SELECT user_id, sum(amount) AS total FROM spring WHERE month > 1 GROUP BY user_id

== a CTE that is used twice
orders o [user_id, amount, month]: o1a o1b
orders o [user_id, amount, month]: o2a o2b
-- spark trino duckdb snowflake bigquery postgres
WITH all_orders AS (SELECT * FROM orders o)
SELECT a.user_id, b.amount FROM all_orders a JOIN all_orders b ON a.user_id = b.user_id
WHERE a.month = 1 AND b.month = 2 AND a.amount < b.amount

== CTEs that are built on each other
orders orders [amount, month]: o6a
-- spark trino duckdb snowflake bigquery postgres
WITH late AS (SELECT * FROM orders WHERE month >= 5), small AS (SELECT * FROM late WHERE amount < 50)
SELECT count(*) AS n FROM small WHERE month <> 5

== a recursive CTE
orders orders [amount, month]: o4a o4b
# Nothing passes into the recursion, and nothing has to.
-- spark trino duckdb snowflake bigquery postgres
WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 5)
SELECT n.k, orders.amount FROM n JOIN orders ON n.k = orders.month WHERE orders.month = 4

== a derived table with its columns renamed
orders orders [amount, month]: o3a o3b
-- spark trino duckdb snowflake bigquery postgres
SELECT t.revenue FROM (SELECT amount AS revenue, month AS period FROM orders) t WHERE t.period = 3

== a lateral subquery
users u [user_id, country]: us
orders o [user_id, amount]: o1a o1b o2a o2b o3a o3b o4a o4b o5a o5b o6a o6b
# BigQuery has no LATERAL: there the subquery stands in the SELECT list.
-- spark
SELECT u.user_id, l.most FROM users u, LATERAL (SELECT max(o.amount) AS most FROM orders o WHERE o.user_id = u.user_id) l
WHERE u.country = 'US'
-- trino duckdb postgres
SELECT u.user_id, l.most FROM users u CROSS JOIN LATERAL (SELECT max(o.amount) AS most FROM orders o WHERE o.user_id = u.user_id) AS l
WHERE u.country = 'US'
-- snowflake
SELECT u.user_id, l.most FROM users u, LATERAL (SELECT max(o.amount) AS most FROM orders o WHERE o.user_id = u.user_id) AS l
WHERE u.country = 'US'
-- bigquery
SELECT u.user_id, (SELECT max(o.amount) FROM orders o WHERE o.user_id = u.user_id) AS most FROM users u
WHERE u.country = 'US'

== IN with a subquery
orders o [user_id, month]: o4a o4b
users u [user_id, country]: fr
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id FROM orders o WHERE o.month = 4 AND o.user_id IN (SELECT u.user_id FROM users u WHERE u.country = 'FR')

== NOT IN with a subquery
orders o [user_id, month]: o4a o4b
users u [user_id, country]: fr
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id FROM orders o WHERE o.month = 4 AND o.user_id NOT IN (SELECT u.user_id FROM users u WHERE u.country = 'FR')

== a correlated scalar subquery
orders o [item_id, amount, month]: o1a
items i [item_id, price]: i1
-- spark trino duckdb snowflake bigquery postgres
SELECT o.amount, (SELECT max(i.price) FROM items i WHERE i.item_id = o.item_id) AS price
FROM orders o WHERE o.month = 1 AND o.item_id = 1 AND o.amount < 40

== UNION ALL under a filter
orders orders [item_id]: o2a o2b
items items [item_id]: i1
-- spark trino duckdb snowflake bigquery postgres
SELECT k FROM (SELECT item_id AS k FROM orders UNION ALL SELECT item_id FROM items) u WHERE k = 2

== UNION
orders orders [user_id, month]: o1a o1b
users users [user_id, country]: us
# BigQuery wants DISTINCT to be said.
-- spark trino duckdb snowflake postgres
SELECT user_id FROM orders WHERE month = 1 UNION SELECT user_id FROM users WHERE country = 'US'
-- bigquery
SELECT user_id FROM orders WHERE month = 1 UNION DISTINCT SELECT user_id FROM users WHERE country = 'US'

== INTERSECT and EXCEPT
orders orders [item_id, month]: o1a o1b o2a o2b
items items [item_id, kind]: i1
orders x [item_id, amount, month]: o2a o3a o4a o5a o6a
-- spark trino duckdb snowflake postgres
(SELECT item_id FROM orders WHERE month < 3 INTERSECT SELECT item_id FROM items WHERE kind = 'book')
EXCEPT SELECT item_id FROM orders x WHERE amount < 10 AND month > 1
-- bigquery
(SELECT item_id FROM orders WHERE month < 3 INTERSECT DISTINCT SELECT item_id FROM items WHERE kind = 'book')
EXCEPT DISTINCT SELECT item_id FROM orders x WHERE amount < 10 AND month > 1

== a list of values as a table
orders o [amount, month]: o2a o2b
-- spark duckdb snowflake postgres trino
SELECT o.amount, v.label FROM orders o JOIN (VALUES (1, 'one'), (2, 'two')) AS v(k, label) ON o.month = v.k WHERE o.month = 2
-- bigquery
SELECT o.amount, v.label FROM orders o JOIN UNNEST([STRUCT(1 AS k, 'one' AS label), STRUCT(2, 'two')]) AS v ON o.month = v.k WHERE o.month = 2

== rows of an array
orders o [user_id, tags, month]: o3a o3b
-- spark
SELECT o.user_id, tag FROM orders o LATERAL VIEW explode(o.tags) t AS tag WHERE o.month = 3
-- trino
SELECT o.user_id, t.tag FROM orders o CROSS JOIN UNNEST(o.tags) AS t(tag) WHERE o.month = 3
-- duckdb
SELECT o.user_id, t.tag FROM orders o, UNNEST(o.tags) AS t(tag) WHERE o.month = 3
-- postgres
SELECT o.user_id, t.tag FROM orders o, unnest(o.tags) AS t(tag) WHERE o.month = 3
-- bigquery
SELECT o.user_id, tag FROM orders AS o, UNNEST(o.tags) AS tag WHERE o.month = 3
-- snowflake
SELECT o.user_id, t.value::STRING AS tag FROM orders o, LATERAL FLATTEN(input => o.tags) t WHERE o.month = 3

== a filter on the rows of an array
orders o [user_id, tags, month]: o3a o3b
-- spark
SELECT o.user_id FROM orders o LATERAL VIEW OUTER explode(o.tags) t AS tag WHERE o.month = 3 AND tag = 'm3'
-- trino
SELECT o.user_id FROM orders o LEFT JOIN UNNEST(o.tags) AS t(tag) ON TRUE WHERE o.month = 3 AND tag = 'm3'
-- duckdb postgres
SELECT o.user_id FROM orders o LEFT JOIN LATERAL UNNEST(o.tags) AS t(tag) ON TRUE WHERE o.month = 3 AND tag = 'm3'
-- bigquery
SELECT o.user_id FROM orders AS o LEFT JOIN UNNEST(o.tags) AS tag WHERE o.month = 3 AND tag = 'm3'
-- snowflake
SELECT o.user_id FROM orders o, LATERAL FLATTEN(INPUT => o.tags, OUTER => TRUE) t WHERE o.month = 3 AND t.value = 'm3'
