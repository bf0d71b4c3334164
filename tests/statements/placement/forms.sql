== parameters without blanks between them
-- postgres
SELECT id FROM orders WHERE id IN ($1,$2) AND month = 3 AND note IN ($1,$2)
--
orders orders: month = 3
  ^ orders.note IN (?, ?): a parameter has no value here
  ^ orders.id IN (?, ?): a parameter has no value here

== a pivot is a statement
-- duckdb
PIVOT orders ON month USING count(*)
--
orders orders: -

== a pivot of a query
-- duckdb
PIVOT (SELECT * FROM orders WHERE month = 3) ON note USING sum(amount) GROUP BY id
--
orders orders: month = 3

== a pivot of a CTE
-- duckdb
WITH march AS (SELECT * FROM orders WHERE month = 3) PIVOT march ON note USING sum(amount)
--
orders orders: month = 3

== columns become rows
-- duckdb
UNPIVOT orders ON month, id INTO NAME n VALUE v
--
orders orders: -

== a list of values with a subquery
-- spark
VALUES (1, (SELECT max(id) FROM orders WHERE month = 3))
--
orders orders: month = 3

== a query is copied to a file
-- duckdb
COPY (SELECT * FROM orders WHERE month = 3) TO 'x.parquet' (FORMAT parquet)
--
orders orders: month = 3

== a query is copied to a stage
-- snowflake
COPY INTO @stage FROM (SELECT * FROM orders WHERE month = 3)
--
orders orders: month = 3

== a table is copied to a file
-- duckdb
COPY orders TO 'x.parquet'
--
orders orders: -

== a query is cached
-- spark
CACHE TABLE march AS SELECT * FROM orders WHERE month = 3
--
orders orders: month = 3

== FINAL merges rows before a condition sees them
-- clickhouse
SELECT o.id FROM orders AS o FINAL JOIN users u ON o.user_id = u.user_id WHERE o.month = 3 AND u.country = 'DE'
--
orders o: -
  ^ o.user_id = u.user_id: it stands above FINAL, which merges rows
  ^ o.month = 3: it stands above FINAL, which merges rows
users u: country = 'DE'

== a text that is overlaid
-- spark
SELECT id FROM orders WHERE overlay(note PLACING 'x' FROM 2 FOR 1) = 'axc' AND month = 3
--
orders orders: OVERLAY(note PLACING 'x' FROM 2 FOR 1) = 'axc' AND month = 3

== nothing is joined to a text
-- spark
SELECT id FROM orders WHERE note > concat() AND month = 3
--
orders orders: note > concat() AND month = 3

== an output that is a literal in HAVING
-- spark
SELECT 'a' AS c, count(*) AS n FROM orders WHERE month = 3 GROUP BY 1 HAVING c = 'b' AND n > 1
--
orders orders: month = 3

== a sign before a column
-- duckdb
SELECT +id FROM orders WHERE month = +id AND +month = 3
--
orders orders: month = positive(id) AND positive(month) = 3 AND id = 3
