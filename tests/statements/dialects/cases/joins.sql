== inner join with a filter on each side
orders o [user_id, amount, month]: o3a
users u [user_id, name, country]: fr
-- spark duckdb snowflake postgres trino
SELECT u.name, o.amount FROM orders o JOIN users u ON o.user_id = u.user_id
WHERE u.country = 'FR' AND o.month = 3 AND o.amount < 50
-- bigquery
SELECT u.name, o.amount FROM `orders` AS o INNER JOIN `users` AS u ON o.user_id = u.user_id
WHERE u.country = 'FR' AND o.month = 3 AND o.amount < 50

== comma join
orders o [user_id, item_id]: o2a o2b
items i [item_id, label]: i1
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id, i.label FROM orders o, items i WHERE o.item_id = i.item_id AND i.item_id = 2

== left join with a filter on the filled side that no NULL passes
orders o [user_id]: o1a o1b o2a o2b o3a o3b o4a o4b o5a o5b o6a o6b
users u [user_id, country]: fr
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE u.country = 'FR'

== left join with a filter on the filled side in ON
orders o [user_id]: o1a o1b o2a o2b o3a o3b o4a o4b o5a o5b o6a o6b
users u [user_id, country]: fr
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id FROM orders o LEFT OUTER JOIN users u ON o.user_id = u.user_id AND u.country = 'FR'

== left join with IS NULL above it
orders o [user_id, month]: o6a o6b
users u [user_id, country]: de fr us
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id
WHERE u.country IS NULL AND o.month = 6

== right join
orders o [user_id]: o4a o4b o5a o5b
users u [user_id]: us
-- spark trino duckdb snowflake bigquery postgres
SELECT u.user_id FROM orders o RIGHT JOIN users u ON o.user_id = u.user_id WHERE u.user_id = 52

== full join with a filter that makes it a left one
orders o [user_id, month]: o1a o1b
users u [user_id]: de
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id, u.user_id FROM orders o FULL OUTER JOIN users u ON o.user_id = u.user_id
WHERE o.month = 1 AND o.user_id < 20

== USING over three tables
orders o [user_id, item_id]: o3a o3b
users u [user_id, country]: de fr us
items i [item_id, label]: i2
-- spark trino duckdb snowflake bigquery postgres
SELECT label, country FROM orders o JOIN users u USING (user_id) JOIN items i USING (item_id)
WHERE item_id = 3

== natural join
orders o [item_id, amount]: o5a o5b
items i [item_id, label]: i3
# In BigQuery, which has no NATURAL JOIN, the columns of the same name are listed.
-- spark trino duckdb snowflake postgres
SELECT label, amount FROM (SELECT item_id, amount FROM orders o) NATURAL JOIN (SELECT item_id, label FROM items i)
WHERE item_id = 5
-- bigquery
SELECT label, amount FROM (SELECT item_id, amount FROM orders o) JOIN (SELECT item_id, label FROM items i) USING (item_id)
WHERE item_id = 5

== cross join
orders o [amount, month]: o4a o4b
items i [label, kind]: i3
-- spark trino duckdb snowflake bigquery postgres
SELECT o.amount, i.label FROM orders o CROSS JOIN items i WHERE o.month = 4 AND i.kind = 'pen'

== self join
orders a [user_id, day, month]: o1a o1b
orders b [user_id, day, month]: o2a o2b
-- spark trino duckdb snowflake bigquery postgres
SELECT a.day, b.day FROM orders a JOIN orders b ON a.user_id = b.user_id WHERE a.month = 1 AND b.month = 2

== semi join
orders o [user_id, month]: o5a o5b
users u [user_id, active]: us
# Spark and DuckDB have a word for it; the others say EXISTS.
-- spark
SELECT o.user_id FROM orders o LEFT SEMI JOIN users u ON o.user_id = u.user_id AND NOT u.active WHERE o.month = 5
-- duckdb
SELECT o.user_id FROM orders o SEMI JOIN users u ON o.user_id = u.user_id AND NOT u.active WHERE o.month = 5
-- trino snowflake bigquery postgres
SELECT o.user_id FROM orders o
WHERE o.month = 5 AND EXISTS (SELECT 1 FROM users u WHERE o.user_id = u.user_id AND NOT u.active)

== anti join
orders o [user_id, month]: o6a o6b
users u [user_id, active]: us
-- spark
SELECT o.user_id FROM orders o LEFT ANTI JOIN users u ON o.user_id = u.user_id AND NOT u.active WHERE o.month = 6
-- duckdb
SELECT o.user_id FROM orders o ANTI JOIN users u ON o.user_id = u.user_id AND NOT u.active WHERE o.month = 6
-- trino snowflake bigquery postgres
SELECT o.user_id FROM orders o
WHERE o.month = 6 AND NOT EXISTS (SELECT 1 FROM users u WHERE o.user_id = u.user_id AND NOT u.active)

== equality through three tables, with keys of two widths
orders o [user_id, amount]: o1a o1b o2a o2b
users u [user_id]: de
events e [user_id, kind]: e2
-- spark trino duckdb snowflake bigquery postgres
SELECT o.amount, e.kind FROM orders o JOIN users u ON u.user_id = o.user_id JOIN events e ON e.user_id = u.user_id
WHERE e.user_id BETWEEN 22 AND 24

== null-safe equality as the join's condition
orders o [user_id]: o3a o3b o4a o4b
users u [user_id]: fr
-- spark
SELECT o.user_id FROM orders o JOIN users u ON o.user_id <=> u.user_id WHERE u.user_id = 42
-- trino duckdb postgres snowflake bigquery
SELECT o.user_id FROM orders o JOIN users u ON o.user_id IS NOT DISTINCT FROM u.user_id WHERE u.user_id = 42
