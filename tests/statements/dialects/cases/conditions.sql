== a list of numbers
orders orders [id, month]: o1a o1b o6a o6b
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM orders WHERE month IN (1, 6, 9)

== a list of texts
orders orders [id, status]: o1b o2b o3b o4b o5b o6b
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM orders WHERE status IN ('paid', 'sent')

== LIKE with a prefix
items items [item_id, kind]: i2
-- spark trino duckdb snowflake bigquery postgres
SELECT item_id FROM items WHERE kind LIKE 'ga%'

== LIKE without regard to case
users users [user_id, country]: de
# Trino and BigQuery have no ILIKE.
-- spark duckdb snowflake postgres
SELECT user_id FROM users WHERE country ILIKE 'd%'
-- trino bigquery
SELECT user_id FROM users WHERE lower(country) LIKE 'd%'

== text that starts with a prefix
items items [item_id, kind]: i2
-- spark snowflake
SELECT item_id FROM items WHERE startswith(kind, 'ga')
-- trino duckdb bigquery postgres
SELECT item_id FROM items WHERE starts_with(kind, 'ga')

== the first characters
items items [item_id, kind]: i3
-- spark trino duckdb snowflake bigquery postgres
SELECT item_id FROM items WHERE substr(kind, 1, 2) = 'pe'

== the left of a text
items items [item_id, kind]: i3
# Trino has no left().
-- spark duckdb snowflake bigquery postgres
SELECT item_id FROM items WHERE left(kind, 2) = 'pe'
-- trino
SELECT item_id FROM items WHERE substring(kind, 1, 2) = 'pe'

== upper case
users users [user_id, country]: fr
-- spark trino duckdb snowflake bigquery postgres
SELECT user_id FROM users WHERE upper(country) = 'FR'

== CASE
orders orders [id, month]: o1a o1b o2a o2b
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM orders WHERE CASE WHEN month < 3 THEN 'early' ELSE 'late' END = 'early'

== IF
orders orders [id, month]: o1a o1b o2a o2b
-- spark trino bigquery duckdb
SELECT id FROM orders WHERE if(month < 3, 'early', 'late') = 'early'
-- snowflake
SELECT id FROM orders WHERE IFF(month < 3, 'early', 'late') = 'early'
-- postgres
SELECT id FROM orders WHERE CASE WHEN month < 3 THEN 'early' ELSE 'late' END = 'early'

== a default for NULL
orders orders [id, note]: o1a o2a o3a o4a o5a o6a
-- spark snowflake
SELECT id FROM orders WHERE nvl(note, '') = ''
-- trino postgres
SELECT id FROM orders WHERE coalesce(note, '') = ''
-- duckdb bigquery
SELECT id FROM orders WHERE ifnull(note, '') = ''

== null-safe equality with a value
orders orders [id, note]: o3b
-- spark
SELECT id FROM orders WHERE note <=> 'note 3'
-- trino duckdb bigquery postgres
SELECT id FROM orders WHERE note IS NOT DISTINCT FROM 'note 3'
-- snowflake
SELECT id FROM orders WHERE EQUAL_NULL(note, 'note 3')

== NULL
orders orders [id, note]: o1a o2a o3a o4a o5a o6a
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM orders WHERE note IS NULL

== a boolean column
users users [user_id, active]: us
-- spark trino duckdb snowflake bigquery postgres
SELECT user_id FROM users WHERE active = FALSE

== a decimal column
items items [item_id, price]: i1 i2
-- spark trino duckdb snowflake bigquery postgres
SELECT item_id FROM items WHERE price BETWEEN 19.99 AND 20.50

== arithmetic
orders orders [id, month]: o5a o5b o6a o6b
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM orders WHERE month * 2 + 1 > 10

== division of integers
orders orders [id, month]: o4a o4b o5a o5b
# 5 / 2 is 2 in Trino and Postgres, 2.5 elsewhere: there the quotient has a name of its own, but
# in Snowflake, whose / is a decimal's of a scale of its own that nobody here interprets.
-- spark
SELECT id FROM orders WHERE month div 2 = 2
-- trino postgres
SELECT id FROM orders WHERE month / 2 = 2
-- duckdb
SELECT id FROM orders WHERE month // 2 = 2
-- bigquery
SELECT id FROM orders WHERE div(month, 2) = 2
-- snowflake
SELECT id FROM orders WHERE month - MOD(month, 2) = 4

== OR over two tables
orders o [user_id, month]: o1a o1b o2a o2b
users u [user_id, country]: de fr
-- spark trino duckdb snowflake bigquery postgres
SELECT o.user_id FROM orders o JOIN users u ON o.user_id = u.user_id
WHERE (o.month = 1 AND u.country = 'DE') OR (o.month = 2 AND u.country = 'FR')

== a member of a struct
events events [kind, place]: e2
# Trino, BigQuery, DuckDB and Spark write a dot, Snowflake a colon, Postgres parentheses.
-- spark trino duckdb bigquery
SELECT kind FROM events WHERE place.city = 'c2'
-- snowflake
SELECT kind FROM events WHERE place:city = 'c2'
-- postgres
SELECT kind FROM events WHERE (place).city = 'c2'

== what is not deterministic
orders orders [id, month]: o3a o3b
-- spark trino bigquery
SELECT id FROM orders WHERE month = 3 AND rand() < 0.5
-- duckdb postgres
SELECT id FROM orders WHERE month = 3 AND random() < 0.5
-- snowflake
SELECT id FROM orders WHERE month = 3 AND UNIFORM(0::FLOAT, 1::FLOAT, RANDOM()) < 0.5
