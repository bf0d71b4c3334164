== quoted names
orders o [id, month]: o3a o3b
-- spark bigquery
SELECT `o`.`id` FROM `orders` AS `o` WHERE `o`.`month` = 3
-- trino duckdb snowflake postgres
SELECT "o"."id" FROM "orders" AS "o" WHERE "o"."month" = 3

== names in another case
orders o [id, month]: o3a o3b
-- spark trino duckdb snowflake bigquery postgres
SELECT O.ID FROM ORDERS O WHERE o.Month = 3

== a name of three parts
orders o [id, month]: o3a o3b
-- spark
SELECT id FROM lake.shop.orders o WHERE month = 3
-- trino duckdb postgres
SELECT id FROM lake.shop."orders" o WHERE month = 3
-- snowflake
SELECT id FROM LAKE.SHOP.ORDERS o WHERE MONTH = 3
-- bigquery
SELECT id FROM `lake.shop.orders` o WHERE month = 3

== a table by its own name in front of a column
orders orders [id, month]: o3a o3b
-- spark trino duckdb snowflake bigquery postgres
SELECT orders.id FROM shop.orders WHERE orders.month = 3

== an alias of an output in ORDER BY
orders orders [amount, month]: o3a o3b
-- spark trino duckdb snowflake bigquery postgres
SELECT amount * 2 AS twice FROM orders WHERE month = 3 ORDER BY twice

== ordinals
orders orders [amount, month]: o3a o3b
-- spark trino duckdb snowflake bigquery postgres
SELECT month, sum(amount) FROM orders WHERE month = 3 GROUP BY 1 ORDER BY 2 DESC

== all columns of one of two tables
orders o [user_id, month]: o3a o3b
users u [user_id, name, born, active, country]: de fr us
-- spark trino duckdb snowflake bigquery postgres
SELECT u.* FROM orders o JOIN users u ON o.user_id = u.user_id WHERE o.month = 3

== all columns but some
users users [user_id, name, active, country]: de
# Trino and Postgres have no such star.
-- spark bigquery
SELECT * EXCEPT (born) FROM users WHERE country = 'DE'
-- duckdb snowflake
SELECT * EXCLUDE (born) FROM users WHERE country = 'DE'
-- trino postgres
SELECT user_id, name, active, country FROM users WHERE country = 'DE'

== a comment and a semicolon
orders orders [id, month]: o3a o3b
-- spark trino duckdb snowflake bigquery postgres
SELECT id /* the key */ FROM orders WHERE month = 3;

== a view before the query
orders orders [id, month]: o3a o3b
-- spark
CREATE TEMPORARY VIEW recent AS SELECT id, month FROM orders WHERE month > 2; SELECT id FROM recent WHERE month < 4
-- trino duckdb snowflake bigquery postgres
CREATE VIEW recent AS SELECT id, month FROM orders WHERE month > 2; SELECT id FROM recent WHERE month < 4

== the file of a row
orders orders [id]: o3a
# Snowflake, BigQuery and Postgres have another name for it, or none: they filter by the key.
-- spark
SELECT id FROM orders WHERE _metadata.file_name = 'o3a.parquet'
-- trino
SELECT id FROM orders WHERE "$path" LIKE '%/o3a.parquet'
-- duckdb snowflake bigquery postgres
SELECT id FROM orders WHERE id BETWEEN 300 AND 309
